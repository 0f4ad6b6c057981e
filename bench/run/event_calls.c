// event_calls.c: the cost of perf_event_open and of the calls on its descriptors, for event_calls.py.
// event_calls TYPE CONFIG [PART...]; the parts are calls, sampling, samples and scale. Each line of output is a name and a
// figure, in ns unless the name says otherwise. A figure is the minimum of several rounds, because noise only adds.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Many short rounds: even on a busy machine some of them run without being preempted.
enum { ROUNDS = 300, OPENS = 10, GROUP = 8, RING_PAGES = 64, THREADS = 1000, MANY = 10000 };

static uint32_t type;
static uint64_t config;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int open_event(int group, int disabled, uint64_t period) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = disabled;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.sample_period = period;
    attr.sample_type = period ? PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME : 0;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.wakeup_events = 1 << 30;
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        perror("perf_event_open");
        exit(1);
    }
    return fd;
}

// Prints the time of `body`: the minimum over the rounds of the mean of `times` evaluations.
#define COST(name, times, body)                          \
    do {                                                 \
        double least = 1e30;                             \
        for (int round = 0; round < ROUNDS; ++round) {   \
            const double start = now();                  \
            for (int i = 0; i < (times); ++i) {          \
                body;                                    \
            }                                            \
            const double each = (now() - start) / (times); \
            if (each < least) least = each;              \
        }                                                \
        printf("%s %.1f\n", name, least);                \
        fflush(stdout);                                  \
    } while (0)

/// Each call by itself, on a single event and on a group.
static void calls(void) {
    uint64_t values[3 + GROUP];
    const int one = open_event(-1, 1, 0);
    int group[GROUP];
    group[0] = open_event(-1, 1, 0);
    for (int i = 1; i < GROUP; ++i) group[i] = open_event(group[0], 0, 0);
    ioctl(one, PERF_EVENT_IOC_ENABLE, 0);
    ioctl(group[0], PERF_EVENT_IOC_ENABLE, 0);
    COST("read", 200, if (read(one, values, sizeof values) < 0) abort());
    COST("read_group_of_8", 200, if (read(group[0], values, sizeof values) < 0) abort());
    COST("enable_disable", 50, ioctl(one, PERF_EVENT_IOC_DISABLE, 0); ioctl(one, PERF_EVENT_IOC_ENABLE, 0));
    COST("enable_disable_group_of_8", 50, ioctl(group[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
         ioctl(group[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
    COST("reset", 50, ioctl(one, PERF_EVENT_IOC_RESET, 0));
    static int fds[OPENS];
    double opening = 1e30, closing = 1e30;
    for (int round = 0; round < ROUNDS; ++round) {
        const double start = now();
        for (int i = 0; i < OPENS; ++i) fds[i] = open_event(-1, 1, 0);
        const double opened = now();
        for (int i = 0; i < OPENS; ++i) close(fds[i]);
        const double closed = now();
        if (opened - start < opening) opening = opened - start;
        if (closed - opened < closing) closing = closed - opened;
    }
    printf("open %.1f\nclose %.1f\n", opening / OPENS, closing / OPENS);
    COST("open_close", 5, close(open_event(-1, 1, 0)));
}

static volatile uint64_t sink;
static __attribute__((noinline)) void work(long turns) {
    uint64_t x = 1;
    for (long i = 0; i < turns; ++i) x = x * 6364136223846793005ull + (x >> 7 ^ (uint64_t)i);
    sink = x;
}

/// The time of a fixed piece of work while an event counts (period 0) or samples into a ring.
static double time_of_work(uint64_t period, int rings) {
    const int fd = open_event(-1, 1, period);
    const size_t bytes = (1 + RING_PAGES) * 4096;
    // Mapped read-only, the ring overwrites its oldest records, so no reader is needed.
    void* const ring = rings ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    double least = 1e30;
    for (int round = 0; round < ROUNDS; ++round) {
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        const double start = now();
        work(200000);
        const double took = now() - start;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        if (took < least) least = took;
    }
    if (ring != MAP_FAILED) munmap(ring, bytes);
    close(fd);
    return least;
}

/// The slowdown by sampling every 10,000 events, relative to counting.
static void sampling(void) {
    const double counting = time_of_work(0, 0);
    printf("counting_work %.0f\nsampling_work %.0f\n", counting, time_of_work(10000, 1));
}

/// The highest rate of samples into a ring: period 50, so that sampling dominates the work.
static void samples(void) {
    const uint64_t period = 50;
    const int fd = open_event(-1, 1, period);
    const size_t bytes = (1 + RING_PAGES) * 4096;
    struct perf_event_mmap_page* const ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) return;
    double most = 0;
    for (int round = 0; round < 500; ++round) {
        const uint64_t before = ring->data_head;
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        const double start = now();
        work(10000);
        const double took = now() - start;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        const double rate = (double)(ring->data_head - before) / 32 / (took / 1e9);  // a sample has 32 bytes: header, ip, tid, time
        if (rate > most) most = rate;
    }
    printf("samples_per_second %.0f\n", most);
}

static pthread_barrier_t together;

static void* with_eight_events(void* unused) {
    int fds[GROUP];
    uint64_t values[3 + GROUP];
    for (int i = 0; i < GROUP; ++i) fds[i] = open_event(-1, 1, 0);
    for (int i = 0; i < GROUP; ++i) ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
    pthread_barrier_wait(&together);
    work(1000);
    for (int i = 0; i < GROUP; ++i) {
        if (read(fds[i], values, sizeof values) < 0 || values[3] < 1000) abort();
        close(fds[i]);
    }
    return unused;
}

/// 1,000 threads with 8 events each, then 10,000 events of one task.
static void scale(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    static pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    double start = now();
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&threads[i], &small, with_eight_events, NULL) != 0) abort();
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    printf("threads_1000_with_8_events_ms %.1f\n", (now() - start) / 1e6);
    static int fds[MANY];
    uint64_t values[3 + GROUP];
    start = now();
    for (int i = 0; i < MANY; ++i) fds[i] = open_event(-1, 0, 0);
    for (int i = 0; i < MANY; ++i)
        if (read(fds[i], values, sizeof values) < 0) abort();
    for (int i = 0; i < MANY; ++i) close(fds[i]);
    printf("events_10000_of_a_task_ms %.1f\n", (now() - start) / 1e6);
}

int main(int count, char** words) {
    if (count < 3) return 2;
    type = (uint32_t)strtoul(words[1], NULL, 0);
    config = strtoull(words[2], NULL, 0);
    for (int i = 3; i < count; ++i) {
        if (strcmp(words[i], "calls") == 0) calls();
        if (strcmp(words[i], "sampling") == 0) sampling();
        if (strcmp(words[i], "samples") == 0) samples();
        if (strcmp(words[i], "scale") == 0) scale();
    }
    return 0;
}
