// virtual_files.h: the virtual machine's PMUs as files, as programs look for them: /sys/devices/PMU and
// /sys/bus/event_source/devices/PMU, /proc/sys/kernel/perf_event_*. Who runs programs puts them in the place of the
// host's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

struct VirtualFile {
    std::string path;     ///< absolute
    std::string content;  ///< with its end of line
    bool writable = false;
};

/// A symbolic link.
struct VirtualLink {
    std::string path;
    std::string target;
};

struct VirtualTree {
    std::vector<VirtualFile> files;
    std::vector<VirtualLink> links;
};

/// /proc/sys/kernel, with the kernel's defaults.
struct Sysctls {
    std::int32_t perf_event_paranoid = 2;
    std::uint32_t perf_event_max_sample_rate = 100'000;
    std::uint32_t perf_event_max_stack = 127;
    std::uint32_t perf_event_max_contexts_per_stack = 8;
    std::uint32_t perf_event_mlock_kb = 516;
    std::uint32_t perf_cpu_time_max_percent = 25;
};

using subsystem::kTypeUprobe;

struct VirtualMachine {
    Sysctls sysctls;
    std::uint32_t mux_interval_ms = 4;  ///< of each PMU
    unsigned branch_entries = 0;        ///< CpuOptions::branch_entries
};

/// Both trees.
VirtualTree virtual_files(const VirtualMachine& machine = {});

/// Directories that these files are all of: a name below them that isn't in the tree isn't there, though the host has
/// it.
std::vector<std::string> virtual_directories();

}  // namespace anyperf::pmu
