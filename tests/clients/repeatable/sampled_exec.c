// sampled_exec.c: samples the cycles of a program by frequency, from its exec on. Before the exec its process divides as
// often as the argument says. Prints the address and the period of each sample.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 128 };

static volatile uint64_t divisor = 3;

static __attribute__((noinline)) uint64_t divide(long times) {
    uint64_t value = UINT64_MAX;
    for (long i = 0; i < times; ++i) value = value / divisor + (UINT64_MAX - (uint64_t)i);
    return value;
}

static __attribute__((noinline)) uint64_t add(long times) {
    uint64_t value = 0;
    for (long i = 0; i < times; ++i) value += divisor;
    return value;
}

// The cycles of an instruction vary.
static int work(void) {
    uint64_t sum = 0;
    for (int i = 0; i < 60; ++i) sum += add(20000) + divide(1000 + 400 * (i % 7));
    return sum == 0;
}

int main(int argc, char** argv) {
    if (argc != 2) return 1;
    if (strcmp(argv[1], "work") == 0) return work();
    int ready[2];
    if (pipe(ready) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        divide(atol(argv[1]));
        if (read(ready[0], &byte, 1) != 1) return 1;
        execl(argv[0], argv[0], "work", (char*)NULL);
        return 1;
    }
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_CPU_CYCLES;
    attr.exclude_kernel = attr.exclude_hv = attr.disabled = attr.enable_on_exec = attr.freq = 1;
    attr.precise_ip = 2;
    attr.sample_freq = 4000;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
    const int fd = (int)syscall(SYS_perf_event_open, &attr, child, -1, -1, 0);
    char* const ring = mmap(NULL, (1 + PAGES) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || ring == MAP_FAILED || write(ready[1], "", 1) != 1) return 1;
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
    const uint64_t end = ((struct perf_event_mmap_page*)ring)->data_head;
    for (uint64_t at = 0; at < end;) {
        const struct perf_event_header* const header = (const void*)(ring + 4096 + at);
        const uint64_t* const record = (const uint64_t*)(header + 1);
        if (header->type == PERF_RECORD_SAMPLE) printf("%lx %lu\n", record[0], record[1]);
        at += header->size;
    }
    return 0;
}
