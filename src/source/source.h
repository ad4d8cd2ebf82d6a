/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

/*
 * Where VMs and their counters come from. A source is one ops struct and one
 * row in registry.c. It yields plain data: topology, readings, samples (as
 * perf records, the project's sample stream), and leaves all judgement about
 * VMs that come and go to src/session.
 */

#include <linux/perf_event.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"
#include "base/rootfs.h"
#include "events/table.h"
#include "model/capability.h"
#include "model/event.h"
#include "model/move.h"
#include "model/reading.h"
#include "model/topology.h"
#include "model/window.h"

struct source;	 /* each source defines its own */
struct counters; /* one vCPU's counting events */
struct sampler;	 /* one vCPU's sampling events and their ring */

struct source_config {
	const char *root;  /* "/" or a recorded tree */
	const pid_t *pids; /* plain processes to treat as VMs (perf's -p) */
	size_t npids;
	const char *argument; /* what followed the source's name and a colon; NULL */
};

/* A function of a VM. 0; another number ends the listing. */
typedef int symbol_cb(void *ctx, uint64_t address, uint64_t size, const char *name);

/* Sampled every so many events where nothing is said and rates cannot be had: primes,
 * which do not beat; some thousand samples a second of cycles. */
#define PERIOD_OF_FREQUENT 1000003
#define PERIOD_OF_OTHERS 100003

/* Parts of a topology that cost more than a look at /proc/PID/task. */
enum topology_parts {
	TOPOLOGY_BASIC = 0,   /* VMs, vCPUs, thread ids: enough to see what came and went */
	TOPOLOGY_MEMORY = 1,  /* memory per node (numa_maps) */
	TOPOLOGY_THREADS = 2, /* state, last pCPU, affinity and name of each thread */
};

/* What became of one event at open. */
struct opened {
	enum reading_state state; /* READ_COUNTED: it is open; else why it is not */
	char reason[200];	  /* words and remedy when it is not; a remark when it is */
	/* Static: why its count is wrong once it has shared a counter; NULL: it is not. */
	const char *wrong_in_turns;
};

/* What a walk over a ring's new records met; added up by the caller. */
struct sampler_tally {
	uint64_t samples;
	uint64_t bytes;
	uint64_t lost;	    /* by PERF_RECORD_LOST / LOST_SAMPLES */
	uint64_t throttled; /* PERF_RECORD_THROTTLE seen */
	uint64_t corrupt;   /* bytes given up because a record's size made no sense */
};

/*
 * What was there before the events were opened and that records refer to: the
 * names of threads and the files mapped into a process (@kernel: the host
 * kernel's own text, pid -1).
 */
struct sideband_ops {
	int (*comm)(void *ctx, pid_t pid, pid_t tid, const char *name);
	int (*mmap)(void *ctx, bool kernel, pid_t pid, pid_t tid, uint64_t addr,
		    uint64_t len, uint64_t pgoff, const char *file);
};

/*
 * A vCPU's counters at one moment, cumulative since the open. The source fills
 * raw, enabled_ns and running_ns, and state/reason where the counter could not
 * be opened or was taken away; scaling and judgement are the session's.
 */
struct source_ops {
	const char *name;	 /* "kvm" */
	const char *help;	 /* one line */
	const char *argument;	 /* what may follow name and a colon: "SCENARIO"; NULL */
	const char *stat_events; /* what is counted where nothing is said */
	bool processes;		 /* takes plain processes (source_config.pids) */
	uint64_t window_ns;	 /* a diagnosis looks at so long by default */
	uint64_t turn_ns; /* events that share counters are left on one so long at most;
			   * 0: 10 ms, as Linux at HZ=100 */

	/* Events that share counters take turns one by one: of a group that is asked for
	 * nothing is counted then. */
	bool lone_turns;

	/* Is this the kind of machine whose VMs it knows? NULL: it may be. */
	bool (*here)(const struct rootfs *root);

	/* -ESRCH with words if one of the pids is not there; who dies later just leaves. */
	int (*open)(const struct source_config *config, struct source **out,
		    struct err *err);
	void (*close)(struct source *src);
	/* What host this is where it is a simulated one, in words; NULL: it is real. */
	const char *(*simulated)(const struct source *src);

	/* A fresh snapshot into zero-initialised @topo; the caller frees it. */
	int (*topology)(struct source *src, unsigned parts, struct topology *topo,
			struct err *err);

	/*
	 * A descriptor of the caller's that polls readable once @vm's process has
	 * ended, so that its end is noticed between scans; -errno if there is none
	 * (then only scans tell), -ESRCH if it has ended already.
	 */
	int (*vm_fd)(struct source *src, const struct vm *vm);
	/*
	 * Calls @cb with the functions of @vm's programs and kernel. 0, or what @cb
	 * returned. NULL: it does not know them, the user has to (--symbols).
	 */
	int (*symbols)(struct source *src, const struct vm *vm, symbol_cb *cb, void *ctx);
	/*
	 * True if nothing that topology() would tell can have come since its last
	 * call; what has gone may be missed. Much cheaper than topology(); NULL: not
	 * to be had.
	 */
	bool (*unchanged)(struct source *src);
	/*
	 * What can be measured here and what not, why, and the remedy, appended to
	 * @list, grouped. @asks may be empty. Counters are tried only on this
	 * machine, never for a recorded tree. 0, or -ENOMEM.
	 */
	int (*capabilities)(struct source *src, const struct capability_ask *asks,
			    size_t nasks, struct capability_list *list, struct err *err);

	/*
	 * Opens and starts @set on one vCPU. Events that cannot be opened
	 * are reported in @opened[set->n] and read with their state; the call fails
	 * only when nothing can be done for this vCPU at all (-ESRCH: it is gone,
	 * -EMFILE/-ENFILE: out of descriptors, -ENOMEM).
	 * @set and @opened must outlive the counters (reasons point into it).
	 */
	int (*counters_open)(struct source *src, const struct vm *vm,
			     const struct vcpu *vcpu, const struct event_set *set,
			     struct opened *opened, struct counters **out, struct err *err);
	/* Cumulative readings into @out[set->n]. 0 or -errno. Allocates nothing. */
	int (*counters_read)(struct counters *c, struct reading *out);
	/*
	 * How long their vCPU has been in guest mode since it began, as the scheduler
	 * accounts it (by ticks on many kernels): what a counter that stands still is
	 * held against. 0 or -errno. NULL: not to be had.
	 */
	int (*vcpu_ran)(struct counters *c, uint64_t *guest_ns);
	void (*counters_close)(struct counters *c);

	/*
	 * ---- of a socket. As counters_open(), of events of EVENT_UNCORE, on the node with
	 * this id: counters_read() and counters_close() take them. enabled_ns is the time
	 * since the open. NULL: there are none.
	 */
	int (*node_open)(struct source *src, int node, const struct event_set *set,
			 struct opened *opened, struct counters **out, struct err *err);

	/*
	 * ---- the hardware, where it is not that of the machine below source_config.root
	 * (both NULL then). Which CPU, so that its event table is found; its events are
	 * asked for in its own encoding, as table_event_make() without a root makes them.
	 */
	void (*cpu)(struct source *src, struct cpu_id *out);
	/* What its maker says of it. */
	void (*sheet)(struct source *src, struct diag_machine *out);

	/*
	 * ---- placement. Does @move; 0 or -errno with words. NULL: this source cannot,
	 * say() only.
	 */
	int (*move)(struct source *src, const struct vm *vm, const struct move *move,
		    struct err *err);
	/* The command line that would do it, for the tool in charge; "" if there is none.
	 */
	void (*say_move)(struct source *src, const struct vm *vm, const struct move *move,
			 struct strbuf *out);

	/*
	 * Opens sampling of @set on one vCPU into one ring. With @inside the records
	 * are seen from inside the VM: guest-kernel becomes kernel, guest-user user.
	 * A plain process (ACCEL_NONE) also yields COMM, MMAP2, FORK, EXIT.
	 * Every record carries IDENTIFIER, IP, TID, TIME, CPU, PERIOD and sample_id_all.
	 */
	int (*sampler_open)(struct source *src, const struct vm *vm,
			    const struct vcpu *vcpu, const struct event_set *set,
			    bool inside, size_t ring_bytes, struct opened *opened,
			    struct sampler **out, struct err *err);
	/* A descriptor that polls readable when the ring fills past its watermark; -1
	 * where there is none: then the clock alone tells. */
	int (*sampler_fd)(const struct sampler *s);
	/*
	 * The attr and the id of event @i as opened; false if it is not open (@attr
	 * is then what was asked for, @id 0).
	 */
	bool (*sampler_event)(const struct sampler *s, size_t i,
			      struct perf_event_attr *attr, uint64_t *id);
	/*
	 * Shows the whole records that wait in the ring, as at most two spans ready
	 * for writev(): of the ring itself, or of a copy where the view asks for one.
	 * They stay valid until sampler_release(). The number of spans (0: none waits).
	 */
	int (*sampler_peek)(struct sampler *s, struct iovec spans[2],
			    struct sampler_tally *tally);
	void (*sampler_release)(struct sampler *s);
	/* Stops the events; what is in the ring can still be drained. */
	void (*sampler_stop)(struct sampler *s);
	/* Cumulative readings and, where the kernel tells, lost samples per event. */
	int (*sampler_read)(struct sampler *s, struct reading *out, uint64_t *lost);
	void (*sampler_close)(struct sampler *s);
	/*
	 * The threads and maps of @vm's process at this moment. 0, -errno, or what
	 * a callback returned, which ends it.
	 */
	int (*sideband)(struct source *src, const struct vm *vm,
			const struct sideband_ops *cb, void *ctx);
};

/* All sources, NULL-terminated, in the order in which they are asked whether it is their
 * kind of machine; the last one takes what is left. */
extern const struct source_ops *const sources[];
/* What follows the colon of a source's name, as in "sim:default"; NULL: nothing does. */
const char *source_argument(const char *name);
/*
 * The source called @name, up to a colon; without one, the first that is here() on the
 * machine below
 * @root, and that takes plain processes where @processes are asked for. 0, or -errno
 * with words.
 */
int source_choose(const char *name, const char *root, bool processes,
		  const struct source_ops **out, struct err *err);

#endif
