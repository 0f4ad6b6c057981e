// attr_bits.h: short names for the bits of an attr and of the flags of perf_event_open() that the checks of this folder
// look for. The values come from src/abi. The few numbers here are those of uapi/linux/perf_event.h, with its names
// beside them.
#pragma once

#include <cstdint>

#include "abi/attr_flags.h"
#include "abi/branch_types.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::host::causes {

inline constexpr std::uint64_t kInherit = abi::flag("inherit");
inline constexpr std::uint64_t kPinned = abi::flag("pinned");
inline constexpr std::uint64_t kExclusive = abi::flag("exclusive");
inline constexpr std::uint64_t kExcludeUser = abi::flag("exclude_user");
inline constexpr std::uint64_t kExcludeKernel = abi::flag("exclude_kernel");
inline constexpr std::uint64_t kExcludeHv = abi::flag("exclude_hv");
inline constexpr std::uint64_t kFreq = abi::flag("freq");
inline constexpr std::uint64_t kEnableOnExec = abi::flag("enable_on_exec");
inline constexpr std::uint64_t kUseClockid = abi::flag("use_clockid");
inline constexpr std::uint64_t kNamespaces = abi::flag("namespaces");
inline constexpr std::uint64_t kInheritThread = abi::flag("inherit_thread");
inline constexpr std::uint64_t kRemoveOnExec = abi::flag("remove_on_exec");
inline constexpr std::uint64_t kSigtrap = abi::flag("sigtrap");

inline constexpr std::uint64_t kSampleTid = abi::sample("PERF_SAMPLE_TID");
inline constexpr std::uint64_t kSampleRead = abi::sample("PERF_SAMPLE_READ");
inline constexpr std::uint64_t kSampleCallchain = abi::sample("PERF_SAMPLE_CALLCHAIN");
inline constexpr std::uint64_t kSampleRaw = abi::sample("PERF_SAMPLE_RAW");
inline constexpr std::uint64_t kSampleBranchStack = abi::sample("PERF_SAMPLE_BRANCH_STACK");
inline constexpr std::uint64_t kSampleRegsUser = abi::sample("PERF_SAMPLE_REGS_USER");
inline constexpr std::uint64_t kSampleStackUser = abi::sample("PERF_SAMPLE_STACK_USER");
inline constexpr std::uint64_t kSampleWeight = abi::sample("PERF_SAMPLE_WEIGHT");
inline constexpr std::uint64_t kSampleRegsIntr = abi::sample("PERF_SAMPLE_REGS_INTR");
inline constexpr std::uint64_t kSamplePhysAddr = abi::sample("PERF_SAMPLE_PHYS_ADDR");
inline constexpr std::uint64_t kSampleWeightStruct = abi::sample("PERF_SAMPLE_WEIGHT_STRUCT");

inline constexpr unsigned long kPidCgroup = 4;      // PERF_FLAG_PID_CGROUP
inline constexpr unsigned long kAllOpenFlags = 15;  // FD_NO_GROUP, FD_OUTPUT, PID_CGROUP, FD_CLOEXEC

inline constexpr std::uint64_t kBranchKernelOrHv = 2 | 4;  // PERF_SAMPLE_BRANCH_KERNEL, _HV

inline constexpr std::uint32_t kBreakpointRead = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_R");
inline constexpr std::uint32_t kBreakpointWrite = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_W");
inline constexpr std::uint32_t kBreakpointExecute = abi::value_of(abi::kBreakpointTypes, "HW_BREAKPOINT_X");

/// Whether the PMU of the cores counts events of this type. The types are fixed numbers; the name of that PMU in sysfs
/// varies ("cpu", "cpu_core" …).
constexpr bool for_core_pmu(std::uint32_t type) {
    return type == abi::kTypeHardware || type == abi::kTypeHwCache || type == abi::kTypeRaw;
}

}  // namespace anyperf::host::causes
