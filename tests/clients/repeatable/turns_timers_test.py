"""`anyperf run --deterministic`: timers expire by the run's clock, at the same instruction in every run."""
import sys
import time
import unittest

from repeated_runs import PYTHON, RepeatedRuns

# How far a thread has counted when each signal comes.
TIMERS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long counted, seen[8];
static volatile int signals, value, code;
static void note(int number, siginfo_t* info, void* context) {
    (void)number, (void)context;
    value = info->si_value.sival_int, code = info->si_code;
    if (signals < 8) seen[signals++] = counted;
}
static void count_to(int wanted) { signals = 0; for (counted = 0; signals < wanted; counted++) continue; for (int i = 0; i < wanted; i++) printf(" %ld", seen[i]); }
static void* other(void* unused) { for (volatile long i = 0; i < 5000000; i++) continue; return unused; }
int main(void) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    sigaction(SIGALRM, &action, 0), sigaction(SIGPROF, &action, 0), sigaction(SIGVTALRM, &action, 0), sigaction(SIGRTMIN, &action, 0);
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    struct itimerval often = {{0, 300}, {0, 500}}, before;
    printf("%d", setitimer(ITIMER_REAL, &often, 0));
    count_to(5);
    getitimer(ITIMER_REAL, &before);
    printf(" %ld %d", before.it_interval.tv_usec, before.it_value.tv_usec > 0);
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, &before);
    struct itimerval profile = {{0, 200}, {0, 200}};
    puts("");
    setitimer(ITIMER_PROF, &profile, 0);
    count_to(3);
    memset(&profile, 0, sizeof profile);
    setitimer(ITIMER_PROF, &profile, 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 77};
    event._sigev_un._tid = gettid();
    printf(" %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec once = {{0, 0}, {0, 400000}}, left;
    timer_settime(timer, 0, &once, 0);
    timer_gettime(timer, &left);
    printf(" %d", left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 400000);
    count_to(1);
    printf(" value %d code %d", value, code == SI_TIMER);
    timer_delete(timer);
    pthread_join(thread, 0);
    alarm(1000);
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    int got = pause();
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("\npause %d %d after %ld left %u\n", got, errno == EINTR, ended.tv_sec - begun.tv_sec, alarm(0));
    return 0;
}
"""

# A child shares the memory of its parent, whose alarm is further away than the child's. The first one is a vfork's.
SHARERS = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static char stack[65536] __attribute__((aligned(16)));
static volatile long loops;
static int child(void* unused) {
    const struct itimerval timer = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &timer, 0);
    for (;;) ++loops;
}
int main(void) {
    for (int flags = CLONE_VFORK;; flags = 0) {
        int status;
        loops = 0;
        alarm(100);
        waitpid(clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD | flags, 0), &status, 0);
        printf("%d %ld %u\n", status, loops, alarm(0));
        if (flags == 0) return 0;
    }
}
"""


class Timers(RepeatedRuns):
    def test_signals_come_at_the_same_instruction(self):
        output = self.assert_repeats(self.build(TIMERS)).decode()
        self.assertRegex(output, r"^0 \d+ \d+ \d+ \d+ \d+ 300 1\n \d+ \d+ \d+ 0 1 \d+ value 77 code 1\npause -1 1 after (999|1000) left 0\n$")
        times = [int(word) for word in output.split()[1:6]]
        self.assertEqual(times, sorted(times))

    def test_descriptors_expire_by_the_clock_of_the_run(self):
        program = """if True:
            import ctypes, os, select, struct, time
            libc = ctypes.CDLL(None, use_errno=True)
            def make(clock=1): return libc.timerfd_create(clock, 0)
            def arm(fd, value, interval=0.0, flags=0):
                part = lambda t: (int(t), int(t % 1 * 1e9))
                return libc.timerfd_settime(fd, flags, struct.pack("qqqq", *part(interval), *part(value)), None)
            fd = make()
            begun = time.monotonic()
            print(arm(fd, 3600), end=" ")
            print(struct.unpack("Q", os.read(fd, 8)), round(time.monotonic() - begun))
            arm(fd, 10, 5)
            poll = select.epoll()
            poll.register(fd, select.EPOLLIN)
            for _ in range(3): print(len(poll.poll()), struct.unpack("Q", os.read(fd, 8)), round(time.monotonic() - begun))
            time.sleep(21)
            print(struct.unpack("Q", os.read(fd, 8)), round(time.monotonic() - begun))
            arm(fd, time.monotonic() + 7, flags=1)
            print(select.select([fd], [], [], 100)[0] == [fd], select.select([fd], [], [], 0)[0] == [fd], round(time.monotonic() - begun))
            arm(fd, 0)
            print(select.select([fd], [], [], 3)[0], round(time.monotonic() - begun))
            """
        begun = time.monotonic()
        self.assertEqual(self.assert_repeats(PYTHON, "-c", program).decode().splitlines(), [
            "0 (1,) 3600", "1 (1,) 3610", "1 (1,) 3615", "1 (1,) 3620", "(4,) 3641", "True True 3648", "[] 3651"])
        self.assertLess(time.monotonic() - begun, 200)

    def test_an_alarm_stays_over_an_execve_and_ends_other_waits(self):
        script = "use POSIX; alarm 50; exec '/usr/bin/perl', '-e', '$SIG{ALRM} = sub { print \"alarm \" }; my $left = sleep(500); print $left, \" \", time - $^T, \"\\n\"'"
        output = self.assert_repeats("perl", "-e", script).split()
        self.assertEqual(output[0], b"alarm")
        self.assertIn(int(output[1]), (49, 50))

    def test_a_command_with_a_time_limit_is_ended(self):
        self.assertEqual(self.assert_repeats("sh", "-c", "timeout 5 sleep 100; echo $?; timeout 100 sleep 5; echo $?"), b"124\n0\n")

    def test_a_process_that_shares_memory_has_its_own_timers(self):
        output = self.assert_repeats(self.build(SHARERS)).decode()
        self.assertRegex(output, r"^14 \d+ 100\n14 \d+ 100\n$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
