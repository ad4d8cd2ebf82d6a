/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DIAGNOSE_HOST_H
#define DIAGNOSE_HOST_H

/*
 * An analytic model of a NUMA host, fitted to the readings of one window. It tells how
 * long an instruction of each vCPU takes; with a factor switched off that is the
 * diagnosis, with vCPUs and memory elsewhere it is the prediction.
 *
 * A vCPU's time per instruction is what it computes and, for its requests to the uncore,
 * the sum of their latencies over the parallelism that it was seen to have. Latencies are
 * those of an idle machine and waits in three kinds of queue: a socket's request
 * trackers, links, memory channels. Who waits goes slower and so loads the queues less:
 * a closed network, solved as a damped fixed point. Who hits the LLC follows from who
 * shares it by Che's approximation (Che, Tung, Wang, IEEE JSAC 20(7), 2002).
 */

#include "diagnose/diagnose.h"

/* Work of one vCPU on one node. Requests are per instruction, times in seconds. */
struct flow {
	size_t vm;
	unsigned vcpu, node;
	double active;	      /* cores that it keeps busy, 0 … 1 */
	double instructions;  /* in the window */
	double cycles, stall; /* there, as measured */
	double uncore;	      /* of the stall: waiting for the uncore */
	double time;	      /* per instruction, as measured */
	double bare;	      /* of that, with no request to the uncore in flight */
	double covered;	      /* computing while requests are in flight */
	double waiting;	      /* with at least one in flight */
	double parallel;      /* in flight then, on average; 0: not known */
	double window;	      /* requests that it has to be done with before it goes on */
	/* Requests to the uncore: */
	double plain;	/* whose hit or miss is a matter of the LLC's size */
	double hit;	/* of those, share that hits */
	double alone;	/* … that would, had its VM each LLC for itself */
	double cold;	/* … that misses, whoever shares it: touched for the first time */
	double kept;	/* lines that its own L2 gave instead; -1: not known */
	double clean;	/* of the hits, share that another core had too */
	double handed;	/* lines that another core of the socket had to give up, clean */
	double hitm;	/* … dirty */
	double rclean;	/* lines that another socket had too */
	double rhanded; /* … and had to give up */
	double rhitm;	/* … dirty */
	double residue; /* of measured latency, what no kind of request explains, s */
	double home[DIAG_NODES]; /* share of its misses whose memory is on each node */
	double peer[DIAG_NODES]; /* share of what other sockets' caches give, by node */
	double writes;	 /* lines written per line read, as on the nodes of its memory */
	double apart;	 /* share of its VM's other vCPUs that is on other nodes */
	double swell;	 /* what a wait that varies costs, of its mean */
	double felt;	 /* latency of its requests, as the model has it: see there */
	double spot;	 /* references/s to a line of its footprint */
	double trust;	 /* in that footprint: of a gain in hits, how much is believed */
	double modelled; /* hits that it would have with that and the others' there */
	bool even;	 /* that footprint is used evenly */
	double inner_least, inner_most; /* lines that its L2 has; 0: nobody can put them
					 * out, or that is not known */
	double victims; /* per instruction, on the real host: see inclusion.c */
	double floor; /* its hits in an LLC of its own are not less, whatever it hits now */
	double rate;  /* instructions/s, in wall time */
};

enum { QUEUE_MEM, QUEUE_TRACKER, QUEUE_LINK };

struct queue {
	double service;	   /* s per line if it is never idle; 0: as if without limit */
	double k;	   /* fits its waits to those measured */
	double use;	   /* on the real host, 0 … 1 */
	double wait;	   /* s, there */
	double background; /* lines/s of nobody's */
};

struct host {
	const struct diag_window *window;
	unsigned nodes;
	struct flow *flow; /* owned */
	size_t nflows;
	double lines;			     /* of a node's LLC; 0: not known */
	double private;			     /* of a core's L2 */
	double dirty;			     /* dirty_share() */
	double idle[DIAG_NODES][DIAG_NODES]; /* latency of memory, s */
	struct queue mem[DIAG_NODES], tracker[DIAG_NODES];
	struct queue link[DIAG_NODES][DIAG_NODES]; /* from, to */
	double reuse[DIAG_NODES]; /* Che's time of each LLC, s; INFINITY: all fits */
	bool least_footprints;	  /* NUDGE_FOOTPRINTS */
	bool most_inner;	  /* NUDGE_INNER */
	bool hurried;		  /* about is good enough: most is done after a few steps */
	unsigned long evaluations;
};

#define OFF(factor) (1u << (factor))

/* Where the fixed point is. */
struct solution {
	double *time; /* owned; s per instruction, by flow */
	double *hit;
	double *lost;				     /* misses, by inclusion_lost() */
	double *held;				     /* struct latency's */
	double mem[DIAG_NODES], tracker[DIAG_NODES]; /* use */
	double link[DIAG_NODES][DIAG_NODES];
	double mem_wait[DIAG_NODES], tracker_wait[DIAG_NODES];
	double link_wait[DIAG_NODES][DIAG_NODES];
	double reuse[DIAG_NODES];
};

/* A reading seen from the edge of its error, to learn what that does to a result. */
struct nudge {
	int role; /* -1: none */
};
/* Not a reading, but as uncertain as one: footprints are the least that they can be. */
#define NUDGE_FOOTPRINTS ROLES
/* … what L2s have is the most that it can be. */
#define NUDGE_INNER (ROLES + 1)

/* 0 or -ENOMEM. Flows are those of vCPUs that ran and whose instructions and cycles are
 * known. */
int host_fit(struct host *h, const struct diag_window *window, struct nudge nudge);
void host_free(struct host *h);
/* Fills in where the other vCPUs of each flow's VM are. */
void host_peers(struct host *h);
/* @off: factors, as OFF(); @s is host_solution()'s. */
int host_solution(const struct host *h, struct solution *s);
/* Back to the real host. */
void solution_reset(const struct host *h, struct solution *s);
/* Both are of @h. */
void solution_copy(const struct host *h, const struct solution *from, struct solution *to);
void solution_free(struct solution *s);
void host_solve(struct host *h, unsigned off, struct solution *s);

/* Where requests are answered: in the socket, by its own memory, elsewhere. */
enum { NEAR, HERE, FAR, REACHES };

/*
 * Of an instruction's requests. A core retires in order, so that of @window requests in
 * flight it waits for the slowest: what is felt of each kind is its latency times the
 * chance that it is the slowest. All s per instruction.
 */
struct latency {
	double requests[REACHES];
	double sum[REACHES];	/* of their latencies */
	double weight[REACHES]; /* what is felt of sum */
	double felt;
	double held; /* sum while they have an entry of the request tracker */
};

/* ---- solve.c */
/* Of flow @i with @off switched off and queues as in @s. */
void flow_latency(const struct host *h, size_t i, unsigned off, const struct solution *s,
		  struct latency *out);
/* Fills in what is felt if @window are in flight. */
void latency_weigh(struct latency *l, double window);
/* The sum of all requests' latencies. */
double latency_mean(const struct latency *l);
/* What is felt on the real host, by factor, and what an idle machine that the flow has
 * for itself would take, @own. They sum to f->felt. */
struct anatomy {
	double part[FACTORS], own;
};
/* @s: of the real host. */
void host_anatomy(const struct host *h, size_t i, const struct solution *s,
		  struct anatomy *out);
/* What all flows put on each queue, at @s->time: lines or entries, as share of what it
 * can carry. */
struct load {
	double mem[DIAG_NODES], tracker[DIAG_NODES], link[DIAG_NODES][DIAG_NODES];
	double requests[DIAG_NODES]; /* to each socket's uncore, 1/s */
	double held[DIAG_NODES];     /* s a request has an entry, on average */
};
void host_load(const struct host *h, unsigned off, const struct solution *s,
	       struct load *out);
/* What a flow's requests wait for beyond the model is other cores' doing. */
bool flow_shares(const struct flow *f);
double queue_wait(int kind, const struct queue *q, double use, double held);

/* ---- queues.c */
/* Queues of the machine's kind, in which nobody waits. */
void queues_empty(struct host *h);
/* Fits them to the waits that were measured; @s is back at the real host after. 0, -ENOMEM.
 */
int queues_fit(struct host *h, struct solution *s, struct nudge nudge);

/* ---- llc.c */
/* Fits h->flow[].spot and h->reuse[] to the hits that were measured. */
void llc_fit(struct host *h);
/* Fills in h->flow[].alone; @s is used. */
void llc_alone(struct host *h, struct solution *s);
/* Hits of the flows of a node if only @vm is there (-1: everyone), and an instruction of
 * flow i takes @time[i]. @reuse: a first guess in, the answer out. */
void llc_share(const struct host *h, unsigned node, int vm, const double *time, double *hit,
	       double *reuse);

/* ---- inclusion.c */
/* Fits h->flow[].inner_least, .inner_most and .victims; h->reuse[] is fitted. */
void inclusion_fit(struct host *h);
/* Misses per instruction that a flow has there beyond those of the real host, because an
 * inclusive LLC that is swept in @reuse puts lines out of its L2. */
double inclusion_lost(const struct host *h, const struct flow *f, double time,
		      double reuse);

#endif
