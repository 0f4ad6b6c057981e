// event_ids.h: values of attr.type, and values of attr.config for the types whose events the kernel's header names
// (perf_event_open(2), "type" and "config"; uapi/linux/perf_event.h, enums perf_type_id, perf_hw_id, perf_sw_ids,
// perf_hw_cache_*).
//
// Types above PERF_TYPE_BREAKPOINT are dynamic: the kernel numbers a PMU when it registers, and sysfs shows the number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "abi/constant.h"

namespace anyperf::abi {

inline constexpr std::array kTypes{
    Constant{0, "PERF_TYPE_HARDWARE"}, Constant{1, "PERF_TYPE_SOFTWARE"}, Constant{2, "PERF_TYPE_TRACEPOINT"},
    Constant{3, "PERF_TYPE_HW_CACHE"}, Constant{4, "PERF_TYPE_RAW"},      Constant{5, "PERF_TYPE_BREAKPOINT"},
};

// The same types as numbers, for `switch` and `case`.
inline constexpr std::uint32_t kTypeHardware = 0;
inline constexpr std::uint32_t kTypeSoftware = 1;
inline constexpr std::uint32_t kTypeTracepoint = 2;
inline constexpr std::uint32_t kTypeHwCache = 3;
inline constexpr std::uint32_t kTypeRaw = 4;
inline constexpr std::uint32_t kTypeBreakpoint = 5;

/// On hybrid machines the upper half of config is the type of a PMU, for HARDWARE and HW_CACHE; 0 leaves the choice to
/// the kernel (PERF_PMU_TYPE_SHIFT, Linux 5.13).
inline constexpr unsigned kPmuTypeShift = 32;

/// config of PERF_TYPE_HARDWARE: generic events, which each PMU maps to its own codes.
inline constexpr std::array kHardware{
    Constant{0, "PERF_COUNT_HW_CPU_CYCLES"},
    Constant{1, "PERF_COUNT_HW_INSTRUCTIONS"},
    Constant{2, "PERF_COUNT_HW_CACHE_REFERENCES"},
    Constant{3, "PERF_COUNT_HW_CACHE_MISSES"},
    Constant{4, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"},
    Constant{5, "PERF_COUNT_HW_BRANCH_MISSES"},
    Constant{6, "PERF_COUNT_HW_BUS_CYCLES"},
    Constant{7, "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"},
    Constant{8, "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"},
    Constant{9, "PERF_COUNT_HW_REF_CPU_CYCLES"},
};

/// config of PERF_TYPE_SOFTWARE.
inline constexpr std::array kSoftware{
    Constant{0, "PERF_COUNT_SW_CPU_CLOCK"},        Constant{1, "PERF_COUNT_SW_TASK_CLOCK"},
    Constant{2, "PERF_COUNT_SW_PAGE_FAULTS"},      Constant{3, "PERF_COUNT_SW_CONTEXT_SWITCHES"},
    Constant{4, "PERF_COUNT_SW_CPU_MIGRATIONS"},   Constant{5, "PERF_COUNT_SW_PAGE_FAULTS_MIN"},
    Constant{6, "PERF_COUNT_SW_PAGE_FAULTS_MAJ"},  Constant{7, "PERF_COUNT_SW_ALIGNMENT_FAULTS"},
    Constant{8, "PERF_COUNT_SW_EMULATION_FAULTS"}, Constant{9, "PERF_COUNT_SW_DUMMY"},
    Constant{10, "PERF_COUNT_SW_BPF_OUTPUT"},      Constant{11, "PERF_COUNT_SW_CGROUP_SWITCHES"},
};

/// Software events that the scheduler raises. With exclude_kernel their count stays 0: the registers that
/// perf_exclude_event() (kernel/events/core.c) checks are those of the scheduler, in kernel mode.
inline constexpr std::array kKernelOnlySoftware{
    Constant{3, "PERF_COUNT_SW_CONTEXT_SWITCHES"},
    Constant{4, "PERF_COUNT_SW_CPU_MIGRATIONS"},
    Constant{11, "PERF_COUNT_SW_CGROUP_SWITCHES"},
};

/// Whether an event can happen in user mode. If not, exclude_kernel leaves nothing to count. A tracepoint is judged by
/// `name`, because its number differs between machines; `name` is not used for other types.
///
/// Tracepoints of single system calls pass the user's registers (perf_syscall_enter() in
/// kernel/trace/trace_syscalls.c). Other static tracepoints, raw_syscalls too, pass the kernel's
/// (perf_fetch_caller_regs()). A uprobe that is defined in uprobe_events passes the user's (__uprobe_perf_func() in
/// kernel/trace/trace_uprobe.c), but no part of its name shows that: the answer for it is false.
constexpr bool happens_in_user_mode(std::uint32_t type, std::uint64_t config, std::string_view name) {
    if (type == kTypeTracepoint) return name.starts_with("syscalls:");
    if (type != kTypeSoftware) return true;
    return std::ranges::find(kKernelOnlySoftware, config, &Constant::value) == kKernelOnlySoftware.end();
}

/// config of PERF_TYPE_HW_CACHE: cache | op << 8 | result << 16.
inline constexpr std::array kCaches{
    Constant{0, "PERF_COUNT_HW_CACHE_L1D"},  Constant{1, "PERF_COUNT_HW_CACHE_L1I"},
    Constant{2, "PERF_COUNT_HW_CACHE_LL"},   Constant{3, "PERF_COUNT_HW_CACHE_DTLB"},
    Constant{4, "PERF_COUNT_HW_CACHE_ITLB"}, Constant{5, "PERF_COUNT_HW_CACHE_BPU"},
    Constant{6, "PERF_COUNT_HW_CACHE_NODE"},
};
inline constexpr std::array kCacheOps{
    Constant{0, "PERF_COUNT_HW_CACHE_OP_READ"},
    Constant{1, "PERF_COUNT_HW_CACHE_OP_WRITE"},
    Constant{2, "PERF_COUNT_HW_CACHE_OP_PREFETCH"},
};
inline constexpr std::array kCacheResults{
    Constant{0, "PERF_COUNT_HW_CACHE_RESULT_ACCESS"},
    Constant{1, "PERF_COUNT_HW_CACHE_RESULT_MISS"},
};
inline constexpr unsigned kCacheOpShift = 8;
inline constexpr unsigned kCacheResultShift = 16;

static_assert(is_ascending(kTypes, &Constant::value) && is_ascending(kHardware, &Constant::value) &&
              is_ascending(kSoftware, &Constant::value) && is_ascending(kCaches, &Constant::value));

/// attr.bp_type, from linux/hw_breakpoint.h.
inline constexpr std::array kBreakpointTypes{
    Constant{0, "HW_BREAKPOINT_EMPTY"}, Constant{1, "HW_BREAKPOINT_R"}, Constant{2, "HW_BREAKPOINT_W"},
    Constant{3, "HW_BREAKPOINT_RW"},    Constant{4, "HW_BREAKPOINT_X"},
};

}  // namespace anyperf::abi
