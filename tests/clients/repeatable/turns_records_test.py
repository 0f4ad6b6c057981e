"""`anyperf run --deterministic`: the times of records and of events go by the run's clock."""
import re
import shutil
import subprocess
import unittest

from repeated_runs import ANYPERF, Load, RepeatedRuns

# Opens events as a profiler does, and compares their times with the clocks that it reads.
TIMES = r"""
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
static void work(void) { for (int i = 0; i < 3000000; i++) sum += i; }
static unsigned long long now(int clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}
/* Samples of one event on a clock: how many there are, and whether each lies between two readings of the clock. */
static void sample(int clock) {
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr, .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .sample_period = 100000, .sample_type = PERF_SAMPLE_TIME, .exclude_kernel = 1, .disabled = 1,
                                   .use_clockid = 1, .clockid = clock};
    int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    struct perf_event_mmap_page* page = mmap(0, 17 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unsigned long long before = now(clock);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    work();
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    unsigned long long after = now(clock), samples = 0, between = 0, last = 0, ascend = 0;
    for (unsigned long at = 0; at < page->data_head;) {
        struct perf_event_header* record = (void*)((char*)page + 4096 + at);
        unsigned long long time = *(unsigned long long*)(record + 1);
        if (record->type == PERF_RECORD_SAMPLE) {
            samples++, between += before <= time && time <= after, ascend += last < time;
            last = time;
        }
        at += record->size;
    }
    printf("clock %d: samples %llu between %llu ascend %llu\n", clock, samples, between, ascend);
    munmap(page, 17 * 4096), close(fd);
}
int main(void) {
    sample(CLOCK_MONOTONIC), sample(CLOCK_MONOTONIC_RAW);
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    unsigned long long first[3], second[3], start = now(CLOCK_THREAD_CPUTIME_ID);
    if (read(fd, first, sizeof first) < 0) return 1;
    work();
    usleep(1000000);
    if (read(fd, second, sizeof second) < 0) return 1;
    unsigned long long used = now(CLOCK_THREAD_CPUTIME_ID) - start;
    printf("enabled %llu running %llu of %d\n", second[1], second[2], second[1] - first[1] <= used && second[1] - first[1] > used / 2);
    return 0;
}
"""
WORKERS = r"""
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sums[4];
static void* work(void* number) { for (int i = 0; i < 400000; i++) sums[(long)number] += i; return 0; }
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void*)i);
    if (fork() == 0) execl("/bin/true", "true", (char*)0);
    usleep(20000);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    wait(0);
    return 0;
}
"""


class Records(RepeatedRuns):
    def text(self, data):
        return subprocess.run([ANYPERF, "script", "-i", data, "-F", "comm,pid,tid,time,event,ip,sym", "--show-task-events", "--show-mmap-events"],
                              capture_output=True, text=True, check=True).stdout

    def test_samples_have_the_times_that_programs_read(self):
        output = self.assert_repeats(self.build(TIMES)).decode()
        for clock in (1, 4):  # CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW
            samples, between, ascend = map(int, re.search(rf"clock {clock}: samples (\d+) between (\d+) ascend (\d+)", output).groups())
            self.assertGreater(samples, 50)
            self.assertEqual((between, ascend), (samples, samples), output)

    def test_times_of_events_are_the_threads_cpu_time(self):
        output = self.assert_repeats(self.build(TIMES)).decode()
        self.assertRegex(output, r"enabled (\d+) running \1 of 1\n")

    def test_recordings_of_equal_runs_have_equal_times(self):
        program = self.build(WORKERS)
        texts = []
        with Load(3):
            for number in range(4):
                data = self.directory / f"{number}.data"
                subprocess.run([ANYPERF, "record", "--virtual", "--deterministic", "-e", "instructions:u", "-c", "10000", "-o", data, "--",
                                program], capture_output=True, check=True)
                texts.append(self.text(data))
        self.assertEqual(len(set(texts)), 1)
        times = [float(time) for time in re.findall(r" (\d+\.\d+): ", texts[0])]
        self.assertGreater(len(times), 200)
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], 3600)  # the machine has been up for an hour when the run begins
        self.assertLess(times[-1], 3601)

    def test_perf_prints_the_same_in_each_run(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        data = self.directory / "inside.data"
        data.touch()
        script = f"rm -f {data}; perf record -q -e instructions:u -c 50000 -o {data} -- /bin/true; perf script -i {data}; perf stat -e instructions:u /bin/true 2>&1"
        self.assert_repeats("sh", "-c", script)


if __name__ == "__main__":
    unittest.main()
