// many_events.c: MANY events of one thread count exactly. All events of a class must have the same count over a window,
// which prctl begins and ends for all at once, however many are opened and closed. Two windows that differ by a known
// number of loop turns show that the counts are exact. Prints "exact", or the wrong count.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MANY = 10000, CLASSES = 2, SHORT_LOOP = 1000, LONG_LOOP = 51000, SAMPLES_EVERY = 500 };

static const uint64_t kConfigs[CLASSES] = {PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS};
static const uint64_t kPerTurn[CLASSES] = {2, 1};

static int fds[MANY];
static uint64_t before[MANY];

static int open_event(int number) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = kConfigs[number % CLASSES];
    attr.disabled = 1;
    attr.exclude_kernel = attr.exclude_hv = 1;
    // Some events also overflow, which interrupts their thread.
    attr.sample_period = number % SAMPLES_EVERY == 0 ? 777 : 0;
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        perror("perf_event_open");
        exit(1);
    }
    return fd;
}

static void loop(uint64_t turns) {
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

static void window(uint64_t turns) {
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
    loop(turns);
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

static uint64_t count_of(int number) {
    uint64_t value = 0;
    if (read(fds[number], &value, sizeof value) != sizeof value) {
        perror("read");
        exit(1);
    }
    return value;
}

/// The count of each class in a window. Exits with a message if an open event differs from others of its class.
static void count_window(uint64_t turns, uint64_t counted[CLASSES]) {
    window(turns);
    for (int i = 0; i < CLASSES; ++i) counted[i] = 0;
    for (int i = 0; i < MANY; ++i) {
        if (fds[i] < 0) continue;
        const uint64_t now = count_of(i), more = now - before[i];
        before[i] = now;
        uint64_t* const expected = &counted[i % CLASSES];
        if (*expected == 0) *expected = more;
        if (more == *expected) continue;
        printf("event %d counts %lu, others %lu\n", i, more, *expected);
        exit(1);
    }
}

static void expect_exact(const char* when) {
    uint64_t few[CLASSES], many[CLASSES];
    count_window(SHORT_LOOP, few);
    count_window(LONG_LOOP, many);
    for (int i = 0; i < CLASSES; ++i) {
        const uint64_t expected = kPerTurn[i] * (LONG_LOOP - SHORT_LOOP);
        if (many[i] - few[i] == expected) continue;
        printf("%s: config %lu counts %lu of %lu\n", when, kConfigs[i], many[i] - few[i], expected);
        exit(1);
    }
}

int main(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < MANY; ++i) fds[i] = open_event(i);
    expect_exact("all open");
    for (int i = 0; i < MANY; ++i) {
        if (i % 3 == 0) continue;
        close(fds[i]);
        fds[i] = -1;
    }
    expect_exact("two thirds closed");
    for (int i = 0; i < MANY; ++i) {
        if (fds[i] >= 0) continue;
        fds[i] = open_event(i);
        before[i] = 0;
    }
    expect_exact("opened again");
    for (int i = 0; i < MANY; ++i) close(fds[i]);
    puts("exact");
    return 0;
}
