"""`anyperf run --deterministic` has a clock of its own: programs that look at the time have one count and one output."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
EPOCH = 1796083200

# Every way to look at the time, and every sleep that waits for nothing else. It ends by a wait for the clock itself.
CLOCKS = r"""
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <x86intrin.h>
static void print_time(const char* what, long answer) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%s %ld %ld.%09ld\n", what, answer, now.tv_sec, now.tv_nsec);
}
int main(void) {
    for (clockid_t clock = 0; clock <= CLOCK_TAI; ++clock) {
        struct timespec now = {}, resolution = {};
        int got = clock_gettime(clock, &now);
        clock_getres(clock, &resolution);
        printf("clock %d: %d %ld.%09ld by %ld\n", clock, got, now.tv_sec, now.tv_nsec, resolution.tv_nsec);
    }
    struct timeval of_day;
    gettimeofday(&of_day, 0);
    struct tms usage_in_ticks;
    long ticks = times(&usage_in_ticks);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld.%06ld %ld %ld %ld %ld %ld.%06ld %ld\n", of_day.tv_sec, of_day.tv_usec, time(0), ticks, usage_in_ticks.tms_utime,
           usage_in_ticks.tms_stime, usage.ru_utime.tv_sec, usage.ru_utime.tv_usec, usage.ru_minflt);
    clockid_t own;
    struct timespec cpu;
    pthread_getcpuclockid(pthread_self(), &own);
    printf("thread %d", clock_gettime(own, &cpu));
    printf(" %ld.%09ld\n", cpu.tv_sec, cpu.tv_nsec);
    unsigned number = 77;
    unsigned long long first = __rdtsc(), second = __rdtscp(&number);
    printf("tsc %llu %llu on %u, %d, vdso %lx\n", first, second - first, number, sched_getcpu(), getauxval(AT_SYSINFO_EHDR));
    struct timespec t = {1000, 5};
    print_time("nanosleep", nanosleep(&t, 0));
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 1000;
    print_time("until", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, 0));
    print_time("until the past", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, 0));
    of_day.tv_sec = 1000, of_day.tv_usec = 1;
    print_time("select", select(0, 0, 0, 0, &of_day));
    printf("left %ld %ld\n", of_day.tv_sec, of_day.tv_usec);
    print_time("poll", poll(0, 0, 1000000));
    t.tv_sec = 1000, t.tv_nsec = 0;
    print_time("ppoll", ppoll(0, 0, &t, 0));
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    t.tv_sec = 1000, t.tv_nsec = 0;
    print_time("sigtimedwait", sigtimedwait(&signals, 0, &t));
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 1000;
    print_time("condition", pthread_cond_timedwait(&condition, &mutex, &t));
    print_time("mutex", pthread_mutex_timedlock(&mutex, &t));
    unsigned long looks = 0;
    for (time_t start = time(0); time(0) <= start;) ++looks;
    printf("looks %lu\n", looks);
    return 0;
}
"""


def run(*command, options=(), **arguments):
    return subprocess.run([ANYPERF, "run", "--deterministic", *options, "--", *map(str, command)], capture_output=True, text=True,
                          timeout=300, check=True, **arguments).stdout


def count_and_output(*command, compiled):
    """The instructions of all threads, and the output. Python keeps compiled modules below the directory `compiled`."""
    with tempfile.NamedTemporaryFile() as counts:
        text = run(*command, options=["--count=instructions", "--count-to", counts.name],
                   env={"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": str(compiled)})
        return json.loads(Path(counts.name).read_text())["total"]["instructions"], text


class VirtualTime(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def compiled(self, text):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        program = self.directory / "program"
        subprocess.run(["gcc", "-O1", "-pthread", "-xc", "-o", program, "-"], input=text, text=True, check=True)
        return program

    def test_is_the_same_in_ten_runs(self):
        commands = {
            "C": [self.compiled(CLOCKS)],
            "perl": ["perl", "-MTime::HiRes=sleep", "-e", "print time, ' ', join(',', times), qq(\\n); sleep 1000.5; print Time::HiRes::time()"],
            "python3": ["/usr/bin/python3", "-c", "import time\nprint(time.time(), time.perf_counter_ns(), time.process_time_ns())\n"
                        "time.sleep(1000)\nprint(time.monotonic(), time.time(), {str(n) for n in range(500)})"],
            "ruby": ["ruby", "-e", "puts Time.now.to_r, Process.clock_gettime(Process::CLOCK_MONOTONIC); sleep 1000; puts Time.now.to_r"],
        }
        for name, command in commands.items():
            if shutil.which(str(command[0])) is None:
                continue
            with self.subTest(name):
                # CPython's first run writes what it compiles of its library, whose files a run shows with other times.
                count_and_output(*command, compiled=self.directory)
                results = [count_and_output(*command, compiled=self.directory) for _ in range(10)]
                self.assertEqual(len(set(results)), 1, results)
                self.assertTrue(results[0][1].strip())

    def test_goes_on_by_what_was_slept(self):
        lines = run(self.compiled(CLOCKS)).splitlines()
        at = {}
        for line in lines:
            name, _, clock = line.rpartition(" ")
            at[name] = clock
        times = [float(at[name]) for name in ("nanosleep 0", "until 0", "until the past 0", "select 0", "poll 0", "ppoll 0", "sigtimedwait -1",
                                              "condition 110")]
        steps = [round(after - before) for before, after in zip(times, times[1:])]
        self.assertEqual(steps, [1000, 0, 1000, 1000, 1000, 1000, 1000])
        self.assertIn("left 0 0", lines)
        self.assertIn("tsc", "\n".join(lines))
        self.assertTrue(any(line.endswith("on 0, 0, vdso 0") for line in lines), lines)

    def test_goes_on_by_unusual_timeouts(self):
        # More than a second of microseconds, and a sleep of 146 years, whose end in quarters of a nanosecond has more than 64 bits.
        program = self.compiled("""
            #include <signal.h>
            #include <stdio.h>
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            static void ignore(int number) { (void)number; }
            int main(void) {
                struct timespec before, after, years = {4611686020, 0};
                clock_gettime(CLOCK_MONOTONIC, &before);
                long timeout[2] = {1, 2500000};
                long answer = syscall(SYS_select, 0, 0, 0, 0, timeout);
                clock_gettime(CLOCK_MONOTONIC, &after);
                printf("%ld %ld\\n", answer, (after.tv_nsec - before.tv_nsec) / 100000000 + (after.tv_sec - before.tv_sec) * 10);
                signal(SIGALRM, ignore);
                alarm(3);
                printf("%d\\n", nanosleep(&years, 0));
            }
            """)
        for options in ([], ["--no-turns"]):
            with self.subTest(options):
                self.assertEqual(run(program, options=options), "0 35\n-1\n")

    def test_begins_at_the_epoch(self):
        self.assertEqual(run("date", "-u", "+%F %T").strip(), "2026-12-01 00:00:00")
        self.assertEqual(run("date", "+%s", options=["--epoch", "1000000000"]).strip(), "1000000000")

    def test_belongs_to_the_run_and_not_to_a_process(self):
        shown = run("sh", "-c", "date +%s; sleep 500; date +%s; /usr/bin/env sleep 500; date +%s").split()
        self.assertEqual(shown, [str(EPOCH), str(EPOCH + 500), str(EPOCH + 1000)])

    def test_of_children_is_what_they_have_retired(self):
        program = """if True:
            import os, resource
            pid = os.fork()
            if pid == 0:
                for _ in range(200000): pass
                os._exit(0)
            usage = os.wait4(pid, 0)[2]
            of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(usage.ru_utime > 0, usage.ru_utime == of_children.ru_utime, usage.ru_minflt, os.times().children_user)
            """
        shown = run("/usr/bin/python3", "-c", program).split()
        self.assertEqual(shown[:3], ["True", "True", "0"])

    def test_waits_really_while_others_run(self):
        # The child writes after a while of the kernel's time, which the parent's timeout does not cut short.
        program = """if True:
            import os, select, time
            reading, writing = os.pipe()
            if os.fork() == 0:
                for _ in range(2000000): pass
                os.write(writing, b"x")
                os._exit(0)
            start = time.monotonic()
            ready = select.select([reading], [], [], 200)[0]
            print(ready == [reading], time.monotonic() - start < 100)
            """
        self.assertEqual(run("/usr/bin/python3", "-c", program).split(), ["True", "True"])

    def test_a_timer_ends_a_sleep(self):
        program = "import signal, time\nsignal.signal(signal.SIGALRM, lambda *_: exit(7))\nsignal.setitimer(signal.ITIMER_REAL, 0.2)\ntime.sleep(10000)"
        ended = subprocess.run([ANYPERF, "run", "--deterministic", "--", "/usr/bin/python3", "-c", program], timeout=300, check=False)
        self.assertEqual(ended.returncode, 7)

    def test_a_timer_of_a_clocks_time_expires(self):
        program = self.compiled(r"""
            #include <stdint.h>
            #include <stdio.h>
            #include <sys/timerfd.h>
            #include <time.h>
            #include <unistd.h>
            int main(void) {
                for (int clock = 0; clock < 2; ++clock) {
                    int fd = timerfd_create(clock, 0);
                    struct itimerspec timer = {};
                    clock_gettime(clock, &timer.it_value);
                    timer.it_value.tv_nsec += timer.it_value.tv_nsec < 900000000 ? 50000000 : 0;
                    uint64_t expired = 0;
                    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, 0) != 0 || read(fd, &expired, 8) != 8) return 1;
                    printf("%d ", (int)expired);
                }
                return 0;
            }""")
        self.assertEqual(run(program).split(), ["1", "1"])

    def test_needs_a_deterministic_run(self):
        failed = subprocess.run([ANYPERF, "run", "--epoch", "3", "--", "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(failed.returncode, 125)
        self.assertIn("--epoch requires --deterministic", failed.stderr)

    def test_is_the_kernels_otherwise(self):
        shown = subprocess.run([ANYPERF, "run", "--", "date", "+%s"], capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertLess(abs(int(shown) - time.time()), 600)


if __name__ == "__main__":
    unittest.main()
