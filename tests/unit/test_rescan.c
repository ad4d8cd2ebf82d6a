/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes and goes between two scans: hosts that a test changes as it goes. */
#include "hosts.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

/* A copy of a host, for this test alone. */
struct copy {
	char dir[64];
	struct source *src;
	struct topology topo;
};

static void shell(const char *dir, const char *command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!chdir(dir))
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void copy_open(struct copy *c, const char *host)
{
	char command[4200];

	*c = (struct copy) { .dir = "/tmp/vmmprof-rescan-XXXXXX" };
	assert_non_null(mkdtemp(c->dir));
	snprintf(command, sizeof(command), "cp -a '%s/.' .", host_dir(host));
	shell(c->dir, command);
	c->src = host_open(c->dir, NULL, 0);
}

static const struct topology *copy_scan(struct copy *c)
{
	topology_free(&c->topo);
	host_topology(c->src, TOPOLOGY_BASIC, &c->topo);
	return &c->topo;
}

static void copy_close(struct copy *c)
{
	char command[80];

	topology_free(&c->topo);
	kvm_source.close(c->src);
	snprintf(command, sizeof(command), "rm -rf '%s'", c->dir);
	shell("/", command);
}

static void a_vm_that_goes_is_gone_at_the_next_scan(void **state)
{
	struct copy c;

	(void)state;
	copy_open(&c, "kvmtool");
	assert_int_equal(copy_scan(&c)->nvms, 2);
	shell(c.dir, "rm -r proc/700");
	assert_int_equal(copy_scan(&c)->nvms, 1);
	copy_close(&c);
}

static void a_hotplugged_vcpu_is_there_at_the_next_scan(void **state)
{
	struct copy c;

	(void)state;
	copy_open(&c, "kvmtool");
	assert_int_equal(copy_scan(&c)->vms[1].nvcpus, 1);
	shell(c.dir, "ln -s anon_inode:kvm-vcpu:1 proc/750/fd/9; mkdir proc/750/task/760; "
		     "echo kvm-vcpu-1 > proc/750/task/760/comm");
	assert_int_equal(copy_scan(&c)->vms[1].nvcpus, 2);
	assert_int_equal(c.topo.vms[1].vcpus[1].tid, 760);
	copy_close(&c);
}

static void a_reused_process_number_is_looked_at_again_at_once(void **state)
{
	struct copy c;

	(void)state;
	copy_open(&c, "empty");
	for (int i = 0; i < 20; i++)
		assert_int_equal(copy_scan(&c)->nvms, 0);
	/* Made before the old one goes: the inode must not be the same. */
	shell(c.dir, "cp -a proc/500 new; ln -s anon_inode:kvm-vm new/fd/9; "
		     "rm -r proc/500; mv new proc/500");
	assert_int_equal(copy_scan(&c)->nvms, 1);
	copy_close(&c);
}

static void a_process_that_becomes_a_vm_is_found_within_eight_scans(void **state)
{
	struct copy c;
	int scans = 1;

	(void)state;
	copy_open(&c, "empty");
	for (int i = 0; i < 20; i++)
		assert_int_equal(copy_scan(&c)->nvms, 0);
	shell(c.dir, "ln -s anon_inode:kvm-vm proc/500/fd/9");
	while (!copy_scan(&c)->nvms && scans < 8)
		scans++;
	assert_int_equal(c.topo.nvms, 1);
	copy_close(&c);
}

static void debugfs_announces_a_vm_at_once(void **state)
{
	struct copy c;

	(void)state;
	copy_open(&c, "empty");
	for (int i = 0; i < 20; i++)
		assert_int_equal(copy_scan(&c)->nvms, 0);
	shell(c.dir,
	      "ln -s anon_inode:kvm-vm proc/500/fd/9; mkdir -p sys/kernel/debug/kvm/500-9");
	assert_int_equal(copy_scan(&c)->nvms, 1);
	copy_close(&c);
}

static void the_second_vm_of_a_process_keeps_its_id_when_the_first_goes(void **state)
{
	struct copy c;

	(void)state;
	copy_open(&c, "two-vms-debugfs");
	assert_int_equal(copy_scan(&c)->nvms, 2);
	shell(c.dir, "rm -r sys/kernel/debug/kvm/1234-10; cd proc/1234/fd && rm 10 11 12");
	assert_int_equal(copy_scan(&c)->nvms, 1);
	assert_string_equal(c.topo.vms[0].id, "1234.2");
	copy_close(&c);
}

static void a_given_process_that_ends_just_leaves(void **state)
{
	const pid_t pid = 500;
	struct copy c;

	(void)state;
	copy_open(&c, "empty");
	kvm_source.close(c.src);
	c.src = host_open(c.dir, &pid, 1);
	assert_int_equal(copy_scan(&c)->nvms, 1);
	shell(c.dir, "rm -r proc/500");
	assert_int_equal(copy_scan(&c)->nvms, 0);
	copy_close(&c);
}

static void *wait_to_end(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

/* Scans until nothing was born on the whole machine between it and the answer. */
static bool becomes_quiet(struct source *src)
{
	for (int i = 0; i < 1000; i++) {
		struct topology topo = { 0 };

		host_topology(src, TOPOLOGY_BASIC, &topo);
		topology_free(&topo);
		if (kvm_source.unchanged(src))
			return true;
	}
	return false;
}

static void a_thread_that_comes_or_goes_is_a_change(void **state)
{
	const pid_t self = getpid();
	struct source *src = host_open("/", &self, 1);
	pthread_barrier_t barrier;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_false(kvm_source.unchanged(src)); /* there was no scan yet */
	assert_true(becomes_quiet(src));
	assert_int_equal(pthread_create(&thread, NULL, wait_to_end, &barrier), 0);
	assert_false(kvm_source.unchanged(src));
	assert_true(becomes_quiet(src));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	/* a thread that was joined is still on its way out of the kernel */
	for (int i = 0; i < 5000 && kvm_source.unchanged(src); i++)
		usleep(1000);
	assert_false(kvm_source.unchanged(src));
	pthread_barrier_destroy(&barrier);
	kvm_source.close(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vm_that_goes_is_gone_at_the_next_scan),
		cmocka_unit_test(a_hotplugged_vcpu_is_there_at_the_next_scan),
		cmocka_unit_test(a_reused_process_number_is_looked_at_again_at_once),
		cmocka_unit_test(a_process_that_becomes_a_vm_is_found_within_eight_scans),
		cmocka_unit_test(debugfs_announces_a_vm_at_once),
		cmocka_unit_test(
			the_second_vm_of_a_process_keeps_its_id_when_the_first_goes),
		cmocka_unit_test(a_thread_that_comes_or_goes_is_a_change),
		cmocka_unit_test(a_given_process_that_ends_just_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
