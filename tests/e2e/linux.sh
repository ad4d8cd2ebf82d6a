#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two Linux guests, one without a PMU of its own: counted with different events at
# once, sampled each with its own: web with the period, for the seconds of the arguments.
. /usr/lib/testbed/lib.sh
period=$1 seconds=$2

# an emulated interrupt takes long: the kernel would allow ever fewer
echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

lguest start web web
lguest start db db --pmu off
lguest ready web db 2>/out/ready.err
result ready $?
vmmprof stat --vm web:cycles,instructions --vm db:instructions:u,instructions:k -e task-clock \
	-I 500 --duration 1 --json >/out/stat.json 2>/out/stat.err
result stat $?
vmmprof record --vm "web:cycles/period=$period/" --vm db:cycles/freq=997/ -o /out/rec \
	--symbols web=/run/guests/web/kallsyms --symbols web=/run/guests/web/work \
	--symbols db=/run/guests/db/kallsyms --symbols db=/run/guests/db/work \
	--duration "$seconds" >/out/record.txt 2>&1
result record $?
for vm in web db; do
	cp /run/guests/$vm/kallsyms /out/$vm.kallsyms
	vmmprof report /out/rec --vm $vm --json >/out/$vm.json 2>/out/$vm.err
	result "report-$vm" $?
	vmmprof report /out/rec --vm $vm --folded >/out/$vm.folded
done

lguest stop web db
