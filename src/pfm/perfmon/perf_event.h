/* perfmon/perf_event.h: the kernel's perf_event_open(2) interface from the kernel's own header, and the call itself. */
#ifndef __PERFMON_PERF_EVENT_H__
#define __PERFMON_PERF_EVENT_H__

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PERF_FLAG_FD_CLOEXEC
#define PERF_FLAG_FD_CLOEXEC (1UL << 3)
#endif

static inline int perf_event_open(struct perf_event_attr* hw_event_uptr, pid_t pid, int cpu, int group_fd,
                                  unsigned long flags) {
    return (int)syscall(__NR_perf_event_open, hw_event_uptr, pid, cpu, group_fd, flags);
}

#ifdef __cplusplus
}
#endif

#endif
