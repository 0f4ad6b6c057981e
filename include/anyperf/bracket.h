/* bracket.h: a program says which part of it `anyperf stat -D -1` or `record -D -1` counts. For C and C++; it needs no
 * library. In a run under the virtual PMU both calls switch the events of anyperf, and those that the calling thread
 * has opened; elsewhere the latter alone. They return 0 (prctl(2), PR_TASK_PERF_EVENTS_ENABLE and _DISABLE). */
#pragma once
#include <sys/prctl.h>

static inline int anyperf_begin(void) {
    return prctl(PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0);
}
static inline int anyperf_end(void) {
    return prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}
