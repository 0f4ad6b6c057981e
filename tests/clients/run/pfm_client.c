/* pfm_client.c: counts the events that its arguments name, as libpfm4's example programs do: libpfm encodes them and
 * perf_event_open counts them, as one group around a loop of 100000 turns. */
#include <perfmon/pfmlib_perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int fds[8];
    if (pfm_initialize() != PFM_SUCCESS || argc > 9) return 2;
    for (int i = 1; i < argc; ++i) {
        struct perf_event_attr attr = {0};
        attr.size = sizeof attr;
        const int encoded = pfm_get_perf_event_encoding(argv[i], PFM_PLM3, &attr, NULL, NULL);
        if (encoded != PFM_SUCCESS) return fprintf(stderr, "%s: %s\n", argv[i], pfm_strerror(encoded)), 3;
        attr.disabled = i == 1;
        fds[i - 1] = perf_event_open(&attr, 0, -1, i == 1 ? -1 : fds[0], 0);
        if (fds[i - 1] < 0) return perror(argv[i]), 4;
    }
    ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    for (volatile int i = 0; i < 100000; i = i + 1) {
    }
    ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    for (int i = 1; i < argc; ++i) {
        uint64_t count = 0;
        if (read(fds[i - 1], &count, sizeof count) != sizeof count) return 5;
        printf("%s %llu\n", argv[i], (unsigned long long)count);
    }
    return 0;
}
