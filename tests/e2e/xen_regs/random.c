/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domU that reads and writes its PMU's registers at random, from EL1 and from EL0, with
 * random values, and holds what comes of it against a model of PMUv3: Arm ARM DDI 0487,
 * D17.5. Of what the manual leaves open it wants what the core does: counters that are not
 * there read as zero.
 */
#include "regs.h"

#ifndef ACCESSES
#define ACCESSES 25000
#endif
#define ACCESSES_PER_TURN 256

/* Registers as written; counts as last seen, exact where nothing counts them. */
static struct {
	uint64_t pmcr, enable, irq, overflow, select, userenr;
	uint64_t type[COUNTERS_OF_ALL], count[COUNTERS_OF_ALL];
	uint64_t grows, overflows; /* what may have done so since the last look */
} model;

static unsigned int counters; /* PMCR.N */
static uint64_t guest;	      /* their bits, and the cycle counter's */
static uint64_t constants[REGS];
static bool absent[REGS]; /* undefined, as all of a counter that is not there may be */

static unsigned int wrong_faults, wrong_values;

static void complain(unsigned int *wrong, unsigned int i, uint64_t found, uint64_t wanted)
{
	if ((*wrong)++)
		return;
	result("wrong_register", reg_number(i));
	result("wrong_found", found);
	result("wrong_wanted", wanted);
}

/* ---- which counter, if any, a register is of */

static bool is_type(uint32_t reg)
{
	return reg == ARMV8_PMXEVTYPER ||
	       (reg >= ARMV8_PMEVTYPER(0) && reg <= ARMV8_PMCCFILTR);
}

static bool is_cycles(uint32_t reg)
{
	return reg == ARMV8_PMCCNTR || reg == REG_PMCCNTR_64;
}

static bool is_count(uint32_t reg)
{
	return reg == ARMV8_PMXEVCNTR || is_cycles(reg) ||
	       (reg >= ARMV8_PMEVCNTR(0) && reg <= ARMV8_PMEVCNTR(30));
}

/* False: none that is there; such registers read as zero. */
static bool counter_of(uint32_t reg, unsigned int *counter)
{
	*counter = (reg - ARMV8_PMEVCNTR(0)) % COUNTERS_OF_ALL;
	if (reg == ARMV8_PMXEVTYPER || reg == ARMV8_PMXEVCNTR)
		*counter = model.select;
	if (reg == ARMV8_PMXEVCNTR && model.select == ARMV8_CYCLES)
		return false;
	if (is_cycles(reg))
		*counter = ARMV8_CYCLES;
	return guest >> *counter & 1;
}

/* ---- what is allowed */

static bool read_only(uint32_t reg)
{
	return reg == ARMV8_PMCEID0 || reg == ARMV8_PMCEID1 || reg == ARMV8_PMMIR ||
	       reg == REG_PMCEID2 || reg == REG_PMCEID3;
}

static bool el0_may(uint32_t reg, bool write)
{
	uint64_t allowed = model.userenr;

	if (reg == ARMV8_PMUSERENR)
		return !write;
	if (reg == ARMV8_PMINTENSET || reg == ARMV8_PMINTENCLR || reg == ARMV8_PMMIR)
		return false;
	if (allowed & ARMV8_PMUSERENR_EN)
		return true;
	if (reg == ARMV8_PMSWINC)
		return allowed & ARMV8_PMUSERENR_SW;
	if (reg == ARMV8_PMSELR)
		return allowed & ARMV8_PMUSERENR_ER;
	if (reg == ARMV8_PMCCNTR)
		return !write && allowed & ARMV8_PMUSERENR_CR;
	return !write && is_count(reg) && allowed & ARMV8_PMUSERENR_ER;
}

static bool may(unsigned int i, bool write, bool user)
{
	uint32_t reg = reg_number(i);

	if (absent[i] || (write && read_only(reg)) || (!write && reg == ARMV8_PMSWINC))
		return false;
	return !user || el0_may(reg, write);
}

/* ---- what a read gives */

/* What may have counted since the last look has grown, slowly; the rest stands. */
static void check_count(unsigned int i, unsigned int counter, uint64_t value)
{
	uint64_t grown = (value - model.count[counter]) & width(reg_number(i));

	if (model.grows >> counter & 1 ? grown > 1u << 30 : grown)
		complain(&wrong_values, i, value, model.count[counter]);
	model.count[counter] += grown;
	model.grows &= ~(1ull << counter);
}

static void check_read(unsigned int i, uint64_t value)
{
	uint32_t reg = reg_number(i);
	const uint64_t uncertain = ARMV8_TYPE_MT | (sizeof(long) == 4 ? ARMV8_TYPE_M : 0);
	uint64_t wanted = constants[i];
	unsigned int c;

	if (is_count(reg) || is_type(reg)) {
		wanted = 0;
		if (counter_of(reg, &c)) {
			if (is_count(reg)) {
				check_count(i, c, value);
				return;
			}
			wanted = model.type[c];
			/* there or not, as the machine and the state have them */
			value &= ~uncertain;
			wanted &= ~uncertain;
		}
	}
	switch (reg) {
	case ARMV8_PMCR: wanted |= model.pmcr; break;
	case ARMV8_PMCNTENSET:
	case ARMV8_PMCNTENCLR: wanted = model.enable; break;
	case ARMV8_PMINTENSET:
	case ARMV8_PMINTENCLR: wanted = model.irq; break;
	case ARMV8_PMOVSSET:
	case ARMV8_PMOVSCLR:
		wanted = model.overflow |= value & model.overflows;
		model.overflows = 0;
		break;
	case ARMV8_PMSELR: wanted = model.select; break;
	case ARMV8_PMUSERENR: wanted = model.userenr; break;
	}
	if (value != wanted)
		complain(&wrong_values, i, value, wanted);
}

/* ---- what a write does */

static void model_count(unsigned int counter, uint64_t value)
{
	model.count[counter] = value;
	model.grows &= ~(1ull << counter);
}

static void model_pmcr(uint64_t value)
{
	model.pmcr = value & (ARMV8_PMCR_E | ARMV8_PMCR_D | ARMV8_PMCR_X | ARMV8_PMCR_DP |
			      ARMV8_PMCR_LC | ARMV8_PMCR_LP);
	if (value & ARMV8_PMCR_C)
		model_count(ARMV8_CYCLES, 0);
	for (unsigned int c = 0; value & ARMV8_PMCR_P && c < counters; c++)
		model_count(c, 0);
}

/*
 * What is enabled may have grown anyhow; what certainly has is told. NSK and NSU mean
 * nothing where there is no EL3, as with the emulator, but the core does not ask for that.
 */
static void model_swinc(uint64_t which, bool user)
{
	uint64_t filter = ARMV8_TYPE_NSK | ARMV8_TYPE_NSU |
			  (user ? ARMV8_TYPE_U : ARMV8_TYPE_P) | ARMV8_TYPE_EVENT;

	for (unsigned int c = 0; c < counters; c++)
		if (which >> c & 1 && model.pmcr & ARMV8_PMCR_E && model.enable >> c & 1 &&
		    (model.type[c] & filter) == ARMV8_EVENT_SW_INCR)
			model.count[c]++;
}

static void model_counter(uint32_t reg, uint64_t value)
{
	const uint64_t filters = ARMV8_TYPE_P | ARMV8_TYPE_U | ARMV8_TYPE_NSK |
				 ARMV8_TYPE_NSU | ARMV8_TYPE_NSH | ARMV8_TYPE_M;
	unsigned int c;

	if (!counter_of(reg, &c))
		return;
	if (is_type(reg))
		model.type[c] =
			value & (c == ARMV8_CYCLES ? filters : filters | ARMV8_TYPE_EVENT);
	else
		model_count(c, (model.count[c] & ~width(reg)) | (value & width(reg)));
}

static void model_write(uint32_t reg, uint64_t value, bool user)
{
	switch (reg) {
	case ARMV8_PMCR: model_pmcr(value); break;
	case ARMV8_PMCNTENSET: model.enable |= value & guest; break;
	case ARMV8_PMCNTENCLR: model.enable &= ~value; break;
	case ARMV8_PMINTENSET: model.irq |= value & guest; break;
	case ARMV8_PMINTENCLR: model.irq &= ~value; break;
	case ARMV8_PMOVSSET: model.overflow |= value & guest; break;
	case ARMV8_PMOVSCLR:
		model.overflow &= ~value;
		model.overflows &= ~value;
		break;
	case ARMV8_PMSWINC: model_swinc(value, user); break;
	case ARMV8_PMSELR: model.select = value & ARMV8_PMSELR_SEL; break;
	case ARMV8_PMUSERENR: model.userenr = value & ARMV8_PMUSERENR_ALL; break;
	default:
		if (is_type(reg) || is_count(reg))
			model_counter(reg, value);
	}
}

/* ---- chance */

static uint64_t some_value(uint32_t reg)
{
	uint64_t value = draw();

	switch (below(4)) {
	case 0: value &= draw() & draw(); break;
	case 1: value |= draw() | draw(); break;
	case 2: value = 1ull << below(32); break;
	}
	/* some events that there are; counts that soon overflow */
	if (is_type(reg) && below(2))
		value = (value & ~ARMV8_TYPE_EVENT) |
			(below(2) ? ARMV8_EVENT_CPU_CYCLES : 0);
	if (is_count(reg) && below(2))
		value |= 0xfffff000;
	return value & width(reg);
}

static void try(void)
{
	unsigned int i = below(REGS);
	bool write = below(2), user = !below(4), done;
	uint64_t value;

	/* those of counters that are not there seldom */
	if (absent[i] && below(16))
		i = below(REGS_OF_CRN9);
	if (model.pmcr & ARMV8_PMCR_E) {
		model.grows |= model.enable;
		model.overflows |= model.enable;
	}
	if (reg_number(i) == REG_PMCCNTR_64)
		user = false; /* no way to bring 64 bits there */
	value = write ? some_value(reg_number(i)) : 0;
	done = reg_access(i, write, user, &value);
	if (done != may(i, write, user))
		complain(&wrong_faults, i, done, (uint64_t)write << 8 | user);
	else if (done && write)
		model_write(reg_number(i), value, user);
	else if (done)
		check_read(i, value);
}

static bool may_be_absent(uint32_t reg)
{
	unsigned int number = (reg - ARMV8_PMEVCNTR(0)) % COUNTERS_OF_ALL;

	if (reg == ABSENT_9_12 || reg == ABSENT_9_13 || reg == REG_PMCCNTR_64)
		return true;
	if (reg == REG_PMCEID2 || reg == REG_PMCEID3)
		return sizeof(long) == 8;
	return reg >= ARMV8_PMEVCNTR(0) && reg < ARMV8_PMCCFILTR && number >= counters;
}

static void begin(void)
{
	make_accessors();
	counters = get(ARMV8_PMCR) >> ARMV8_PMCR_N_SHIFT & ARMV8_PMCR_N;
	guest = ((1ull << counters) - 1) | 1ull << ARMV8_CYCLES;
	for (unsigned int i = 0; i < REGS; i++) {
		if (!reg_access(i, false, false, &constants[i]) &&
		    reg_number(i) != ARMV8_PMSWINC) {
			absent[i] = true;
			if (!may_be_absent(reg_number(i)))
				complain(&wrong_faults, i, 0, 1);
		}
	}
}

int bare_main(void)
{
	uint64_t before;

	begin();
	before = ticks();
	for (unsigned int n = 0; n < ACCESSES; n++) {
		try();
		if (n % ACCESSES_PER_TURN == 0)
			yield();
	}
	result("accesses", ACCESSES);
	result("ticks", ticks() - before);
	result("wrong_faults", wrong_faults);
	result("wrong_values", wrong_values);
	return 0;
}
