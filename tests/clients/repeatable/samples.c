// samples.c: samples itself every 10007 instructions and prints each sample: ip, period, call chain.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 128 };

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

// The work includes code of the C library and addresses that the kernel chooses.
static __attribute__((noinline)) uint64_t work(int depth) {
    if (depth != 0) return work(depth - 1) + (uint64_t)depth;
    int* const numbers = malloc(20000 * sizeof *numbers);
    for (int i = 0; i < 20000; ++i) numbers[i] = (int)((unsigned)i * 2654435761u >> 8);
    qsort(numbers, 20000, sizeof *numbers, compare);
    const uint64_t middle = (uint64_t)numbers[10000];
    free(numbers);
    return middle;
}

int main(void) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.exclude_kernel = attr.exclude_hv = attr.disabled = 1;
    attr.sample_period = 10007;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    char* const ring = mmap(NULL, (1 + PAGES) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || ring == MAP_FAILED) return 1;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    const uint64_t result = work(5);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    uint64_t count = 0;
    if (read(fd, &count, sizeof count) != sizeof count) return 1;
    printf("result %lu count %lu\n", result, count);
    const uint64_t end = ((struct perf_event_mmap_page*)ring)->data_head;
    for (uint64_t at = 0; at < end;) {
        const uint64_t* const record = (const uint64_t*)(ring + 4096 + at);
        const uint64_t size = record[0] >> 48;
        for (uint64_t i = 1; i < size / 8; ++i) printf("%lx ", record[i]);
        puts("");
        at += size;
    }
    return 0;
}
