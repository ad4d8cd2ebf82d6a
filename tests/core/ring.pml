/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which core/ring.c needs its loads and stores to take effect, for spin.
 * Memory is weak here: a store waits with its CPU and reaches memory when it likes,
 * before or after its neighbours; a load may be done before those it follows. What holds
 * them back is acquire and release, of which each can be left out (-DHEAD_RELEASE=0 …):
 * spin must then find a record that is read too early or overwritten too early.
 */
#ifndef HEAD_RELEASE
#define HEAD_RELEASE 1 /* vpmu_ring_put(): the record before the head */
#endif
#ifndef TAIL_ACQUIRE
#define TAIL_ACQUIRE 1 /* vpmu_ring_put(): the tail before the record */
#endif
#ifndef HEAD_ACQUIRE
#define HEAD_ACQUIRE 1 /* vpmu_reader_waiting(): the head before the record */
#endif
#ifndef TAIL_RELEASE
#define TAIL_RELEASE 1 /* vpmu_reader_done(): the record before the tail */
#endif

#define RECORDS 2
#define SAMPLES 5

/* memory */
byte record[RECORDS];
byte head, tail;

byte put[SAMPLES];	/* what went into the ring, by position */
byte received, lost;
bool produced;

active proctype producer()
{
	byte n, h, seen, value, place, new_head;
	bool record_waits, head_waits;

	do
	/* Stores reach memory, in any order unless released. */
	:: d_step { record_waits -> record[place] = value; record_waits = false }
	:: d_step { head_waits && !(HEAD_RELEASE && record_waits) ->
		head = new_head; head_waits = false }
	:: atomic { n < SAMPLES && !record_waits && !head_waits ->
		n++;
		seen = tail;
		if
		:: h - seen >= RECORDS && TAIL_ACQUIRE -> lost++
		/* Done before the tail is known, and taken back too late. */
		:: h - seen >= RECORDS && !TAIL_ACQUIRE ->
			record[h % RECORDS] = n; lost++
		:: else ->
			put[h] = n; place = h % RECORDS; value = n;
			h++; new_head = h;
			record_waits = true; head_waits = true
		fi }
	:: n == SAMPLES && !record_waits && !head_waits -> break
	od;
	produced = true
}

active proctype consumer()
{
	byte t, seen, value, new_tail;
	bool early, read_waits, tail_waits, end;

	do
	/* A load that nothing holds back may be done at any time before. */
	:: d_step { !HEAD_ACQUIRE && !early && !read_waits ->
		value = record[t % RECORDS]; early = true }
	:: atomic { !read_waits && !tail_waits ->
		end = produced;
		seen = head;
		if
		:: seen != t -> read_waits = true; new_tail = t + 1; tail_waits = true
		:: seen == t && end -> break
		:: seen == t && !end -> skip
		fi }
	:: d_step { read_waits ->
		if
		:: early -> skip
		:: else -> value = record[t % RECORDS]
		fi;
		assert(value == put[t]);
		received++; t++;
		read_waits = false; early = false }
	:: d_step { tail_waits && !(TAIL_RELEASE && read_waits) ->
		tail = new_tail; tail_waits = false }
	od;
	assert(received + lost == SAMPLES)
}
