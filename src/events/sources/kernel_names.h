// kernel_names.h: the names of the events that the kernel defines. The spellings come from perf (perf-list(1)), the
// numbers from abi/event_ids.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "abi/event_ids.h"

namespace anyperf::events {

/// The value of `constant`, a PERF_COUNT_… name of abi/event_ids.h.
constexpr std::uint64_t config_of(std::uint32_t type, std::string_view constant) {
    if (type == abi::kTypeHardware) return std::ranges::find(abi::kHardware, constant, &abi::Constant::name)->value;
    return std::ranges::find(abi::kSoftware, constant, &abi::Constant::name)->value;
}

struct KernelName {
    std::string_view name;
    std::string_view alias;  ///< another spelling; empty: none
    std::uint32_t type;
    std::string_view constant;  ///< PERF_COUNT_…; find_kernel_name() also accepts this spelling
    std::uint64_t config = config_of(type, constant);
};

inline constexpr std::array kKernelNames{
    KernelName{"cpu-cycles", "cycles", abi::kTypeHardware, "PERF_COUNT_HW_CPU_CYCLES"},
    KernelName{"instructions", "", abi::kTypeHardware, "PERF_COUNT_HW_INSTRUCTIONS"},
    KernelName{"cache-references", "", abi::kTypeHardware, "PERF_COUNT_HW_CACHE_REFERENCES"},
    KernelName{"cache-misses", "", abi::kTypeHardware, "PERF_COUNT_HW_CACHE_MISSES"},
    KernelName{"branch-instructions", "branches", abi::kTypeHardware, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"},
    KernelName{"branch-misses", "", abi::kTypeHardware, "PERF_COUNT_HW_BRANCH_MISSES"},
    KernelName{"bus-cycles", "", abi::kTypeHardware, "PERF_COUNT_HW_BUS_CYCLES"},
    KernelName{"stalled-cycles-frontend", "idle-cycles-frontend", abi::kTypeHardware,
               "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"},
    KernelName{"stalled-cycles-backend", "idle-cycles-backend", abi::kTypeHardware,
               "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"},
    KernelName{"ref-cycles", "", abi::kTypeHardware, "PERF_COUNT_HW_REF_CPU_CYCLES"},
    KernelName{"cpu-clock", "", abi::kTypeSoftware, "PERF_COUNT_SW_CPU_CLOCK"},
    KernelName{"task-clock", "", abi::kTypeSoftware, "PERF_COUNT_SW_TASK_CLOCK"},
    KernelName{"page-faults", "faults", abi::kTypeSoftware, "PERF_COUNT_SW_PAGE_FAULTS"},
    KernelName{"context-switches", "cs", abi::kTypeSoftware, "PERF_COUNT_SW_CONTEXT_SWITCHES"},
    KernelName{"cpu-migrations", "migrations", abi::kTypeSoftware, "PERF_COUNT_SW_CPU_MIGRATIONS"},
    KernelName{"minor-faults", "", abi::kTypeSoftware, "PERF_COUNT_SW_PAGE_FAULTS_MIN"},
    KernelName{"major-faults", "", abi::kTypeSoftware, "PERF_COUNT_SW_PAGE_FAULTS_MAJ"},
    KernelName{"alignment-faults", "", abi::kTypeSoftware, "PERF_COUNT_SW_ALIGNMENT_FAULTS"},
    KernelName{"emulation-faults", "", abi::kTypeSoftware, "PERF_COUNT_SW_EMULATION_FAULTS"},
    KernelName{"dummy", "", abi::kTypeSoftware, "PERF_COUNT_SW_DUMMY"},
    KernelName{"bpf-output", "", abi::kTypeSoftware, "PERF_COUNT_SW_BPF_OUTPUT"},
    KernelName{"cgroup-switches", "", abi::kTypeSoftware, "PERF_COUNT_SW_CGROUP_SWITCHES"},
};

/// The event with this name, alias or constant, in any case; nullptr if there is none.
const KernelName* find_kernel_name(std::string_view name);

}  // namespace anyperf::events
