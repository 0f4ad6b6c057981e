// faults.c: a program that opens, toggles and reads events while something around it fails. The argument selects the
// scenario; each line of output is "NAME VALUE", a result that faults_test.py checks.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct perf_event_attr in_user_mode(uint64_t config) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = config == PERF_COUNT_SW_TASK_CLOCK ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
    attr.config = config;
    attr.exclude_kernel = attr.exclude_hv = 1;
    return attr;
}

static int open_attr(const struct perf_event_attr* attr, pid_t pid) {
    return (int)syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_event(pid_t pid, int inherit, uint64_t config) {
    struct perf_event_attr attr = in_user_mode(config);
    attr.inherit = (unsigned)inherit & 1;
    return open_attr(&attr, pid);
}

static int instructions(void) {
    return open_event(0, 0, PERF_COUNT_HW_INSTRUCTIONS);
}

static int instructions_every(pid_t pid, uint64_t period) {
    struct perf_event_attr attr = in_user_mode(PERF_COUNT_HW_INSTRUCTIONS);
    attr.sample_period = period;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    return open_attr(&attr, pid);
}

static void say(const char* what, long value) {
    printf("%s %ld\n", what, value);
    fflush(stdout);
}

static void wait_for_a_line(void) {
    char line[8];
    say("ready", 0);
    if (read(0, line, 1) < 0) perror("read");
}

// Opens as many events as descriptors allow, then one more after closing some.
static void exhaust(int limit) {
    static int fds[4096];
    int opened = 0;
    if (limit != 0) {
        const struct rlimit few = {(rlim_t)limit, (rlim_t)limit};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    while (opened < 4096 && (fds[opened] = instructions()) >= 0) ++opened;
    say("error", opened < 4096 ? errno : 0);
    say("some", opened > 4);
    long counted = 0;
    for (int i = 0; i < opened; ++i) {
        uint64_t count = 0;
        counted += read(fds[i], &count, sizeof count) == sizeof count && count > 0;
    }
    say("all_count", counted == opened);
    for (int i = 0; i < 4; ++i) close(fds[--opened]);
    say("again", instructions() >= 0);
}

static void make_requests_forever(void) {
    for (;;) {
        const int fd = open_event(0, 1, PERF_COUNT_HW_INSTRUCTIONS);
        const pid_t child = fork();
        if (child == 0) _exit(0);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        uint64_t count = 0;
        if (read(fd, &count, sizeof count) < 0) _exit(1);
        waitpid(child, NULL, 0);
        close(fd);
    }
}

// Kills children in the middle of requests to the broker; the parent must still be served.
static void killed(void) {
    for (int round = 0; round < 20; ++round) {
        const pid_t child = fork();
        if (child == 0) make_requests_forever();
        usleep(20000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    const int fd = instructions();
    uint64_t count = 0;
    say("read", read(fd, &count, sizeof count));
    say("counts", count > 0);
}

static void orphaned(void) {
    const int own = instructions();
    const int far = open_event(0, 1, PERF_COUNT_HW_INSTRUCTIONS);
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    wait_for_a_line();  // the test kills the broker here
    uint64_t count = 0;
    say("read_own", read(own, &count, sizeof count) == sizeof count && count > 0);
    say("read_inherited", read(far, &count, sizeof count) < 0 ? errno : 0);
    say("ioctl", ioctl(far, PERF_EVENT_IOC_DISABLE, 0) < 0 ? errno : 0);
    say("open", instructions() < 0 ? errno : 0);
    struct pollfd polled = {own, POLLIN, 0};
    say("poll", poll(&polled, 1, 5000) > 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// An inherited task clock must contain the time of a killed child after waitpid.
static void clock_of_the_killed(void) {
    for (int round = 0; round < 5; ++round) {
        const int fd = open_event(0, 1, PERF_COUNT_SW_TASK_CLOCK);
        ioctl(fd, PERF_EVENT_IOC_RESET, 0);
        int pipe_ends[2];
        if (pipe(pipe_ends) != 0) return;
        const pid_t child = fork();
        if (child == 0) {
            for (volatile long i = 0; i < 30000000; ++i) {
            }
            if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
            for (;;) pause();
        }
        char byte;
        if (read(pipe_ends[0], &byte, 1) != 1) return;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        uint64_t ns = 0;
        if (read(fd, &ns, sizeof ns) < 0) return;
        if (ns < 5000000) say("too_short", (long)ns);
        close(fd);
    }
    say("done", 0);
}

// One thread samples into a ring, and another one unmaps the ring as soon as it has a record.
static sem_t opened;
static int sampling = -1;
static volatile int over;

static void* sample_until_over(void* nothing) {
    sampling = instructions_every(0, 1000);
    sem_post(&opened);
    while (!over) {
    }
    return nothing;
}

static void unmapped(void) {
    pthread_t thread;
    sem_init(&opened, 0, 0);
    if (pthread_create(&thread, NULL, sample_until_over, NULL) != 0) return;
    sem_wait(&opened);
    const size_t bytes = 9 * 4096;
    int rounds = 0;
    for (; rounds < 500; ++rounds) {
        struct perf_event_mmap_page* const ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sampling, 0);
        if (ring == MAP_FAILED) break;
        while (__atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) == 0) sched_yield();
        munmap(ring, bytes);
    }
    over = 1;
    pthread_join(thread, NULL);
    say("rounds", rounds);
    uint64_t count = 0;
    say("count", read(sampling, &count, sizeof count) == sizeof count && count >= 500 * 1000);
}

// Kills children while they write samples, and uses their events before the children are reaped.
static void unreaped(void) {
    const size_t bytes = 9 * 4096;
    int rounds = 0;
    for (; rounds < 30; ++rounds) {
        const pid_t child = fork();
        if (child == 0)
            for (volatile long i = 0;; ++i) {
            }
        const int fd = instructions_every(child, 10);
        struct perf_event_mmap_page* const ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (ring == MAP_FAILED) break;
        while (__atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) == 0) sched_yield();
        kill(child, SIGKILL);
        siginfo_t ended;
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
        uint64_t count = 0;
        if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) != 0 || read(fd, &count, sizeof count) != sizeof count) break;
        munmap(ring, bytes);
        close(fd);
        waitpid(child, NULL, 0);
    }
    say("rounds", rounds);
}

// Forks up to the limit of processes, each child with an event of its own; then forks once more after they have exited.
static void forks(void) {
    const struct rlimit few = {80, 80};
    setrlimit(RLIMIT_NPROC, &few);
    const int all = open_event(0, 1, PERF_COUNT_HW_INSTRUCTIONS);
    int end[2];
    if (pipe(end) != 0) return;
    int children = 0;
    pid_t child;
    while ((child = fork()) > 0 && children < 100) ++children;
    if (child == 0) {
        char byte;
        close(end[1]);
        _exit(instructions() < 0 || read(end[0], &byte, 1) != 0);
    }
    say("error", child < 0 ? errno : 0);
    say("some", children > 10);
    close(end[1]);
    int failed = 0;
    for (int status; wait(&status) > 0;) failed += status != 0;
    say("failed", failed);
    int status = 0;
    child = fork();
    if (child == 0) _exit(7);
    waitpid(child, &status, 0);
    say("again", WEXITSTATUS(status));
    uint64_t count = 0;
    say("count", read(all, &count, sizeof count) == sizeof count && count > 1000);
}

int main(int count, char** words) {
    if (count < 2) return 2;
    if (strcmp(words[1], "exhaust") == 0) exhaust(40);
    if (strcmp(words[1], "exhaust_broker") == 0) {
        close(instructions());
        wait_for_a_line();
        exhaust(0);
    }
    if (strcmp(words[1], "killed") == 0) killed();
    if (strcmp(words[1], "orphaned") == 0) orphaned();
    if (strcmp(words[1], "unmapped") == 0) unmapped();
    if (strcmp(words[1], "unreaped") == 0) unreaped();
    if (strcmp(words[1], "forks") == 0) forks();
    if (strcmp(words[1], "clock") == 0) clock_of_the_killed();
    say("end", 0);
    return 0;
}
