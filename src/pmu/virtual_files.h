// virtual_files.h: the virtual PMUs in sysfs and procfs, where programs look for them: /sys/devices/PMU,
// /sys/bus/event_source/devices/PMU and /proc/sys/kernel/perf_event_*.
//
// This file only computes paths and contents. The broker writes them below a directory of the run, and each program of
// the run opens those instead of the host's. So perf, libpfm and PAPI find the virtual PMUs unmodified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

/// A regular file.
struct VirtualFile {
    std::string path;       ///< absolute
    std::string content;    ///< with the final newline
    bool writable = false;  ///< its owner has write permission
};

/// A symbolic link.
struct VirtualLink {
    std::string path;    ///< absolute
    std::string target;  ///< relative to the directory of `path`, as in sysfs
};

/// Files and links; the directories follow from their paths.
struct VirtualTree {
    std::vector<VirtualFile> files;
    std::vector<VirtualLink> links;
};

/// The files of /proc/sys/kernel that concern performance events. The values here are the kernel's defaults.
struct Sysctls {
    std::int32_t perf_event_paranoid = 2;
    std::uint32_t perf_event_max_sample_rate = 100'000;
    std::uint32_t perf_event_max_stack = 127;
    std::uint32_t perf_event_max_contexts_per_stack = 8;
    std::uint32_t perf_event_mlock_kb = 516;
    std::uint32_t perf_cpu_time_max_percent = 25;
};

using subsystem::kTypeUprobe;

/// What differs between runs in the contents of the files.
struct VirtualFileSettings {
    Sysctls sysctls;
    std::uint32_t mux_interval_ms = 4;  ///< perf_event_mux_interval_ms of each PMU
    std::string_view modelled_machine;  ///< whose caches and branch predictors are modelled: caps/modelled_machine
    unsigned branch_entries = 0;        ///< depth of the branch stack (CpuOptions::branch_entries); 0: no caps/branches
};

/// All files of the PMUs, and the sysctls.
VirtualTree virtual_files(const VirtualFileSettings& settings = {});

}  // namespace anyperf::pmu
