#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The demonstration, as typed on the host.
. /usr/lib/testbed/lib.sh

show() {
	printf '\n# %s\n' "$*"
	"$@"
}

# an emulated interrupt takes long: the kernel would allow ever fewer
echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

lguest start web web
lguest start db db
lguest ready web db
guests=/run/guests
echo "The host: $(uname -sr) on $(uname -m), CPUs: $(nproc); guests: web and db, Linux too."

show vmmprof list

echo
echo "Two guests, each counted with its own events at the same time, for two seconds:"
show vmmprof stat --vm web:cycles,instructions --vm db:instructions:u,instructions:k \
	-e task-clock --duration 2

echo
echo "An event that this PMU lacks is not a zero:"
show vmmprof stat --vm web:ref-cycles --duration 0.2

echo
echo "Each guest sampled with its own event and period, with the symbols of its kernel and program:"
show vmmprof record --vm web:cycles/period=200000/ --vm db:cycles/period=500000/ \
	--symbols web=$guests/web/kallsyms --symbols web=$guests/web/work \
	--symbols db=$guests/db/kallsyms --symbols db=$guests/db/work \
	-o /out/demo.data --duration 3
show vmmprof report /out/demo.data --limit 8
