/* perfmon/pfmlib_perf_event.h: libpfm's calls for the perf_events interface; see pfm_get_os_event_encoding(3). */
#ifndef __PFMLIB_PERF_EVENTS_H__
#define __PFMLIB_PERF_EVENTS_H__

#include <perfmon/perf_event.h>
#include <perfmon/pfmlib.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/* The argument of pfm_get_os_event_encoding() with PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT. */
typedef struct {
    struct perf_event_attr* attr;
    char** fstr; /* NULL, or where to store the canonical string, from malloc */
    size_t size;
    int idx;
    int cpu;   /* out: the CPU that the string names; -1: none */
    int flags; /* not changed */
    int pad0;
} pfm_perf_encode_arg_t;

#if __WORDSIZE == 64
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

extern pfm_err_t pfm_get_perf_event_encoding(const char* str, int dfl_plm, struct perf_event_attr* output, char** fstr,
                                             int* idx);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif
