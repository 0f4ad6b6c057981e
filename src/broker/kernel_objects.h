// kernel_objects.h: what a task of the run has made in the kernel, as records tell it: a cgroup, a BPF program. Asked
// of the kernel by a descriptor of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/records/kernel_text.h"

namespace anyperf::broker {

struct MadeCgroup {
    std::uint64_t inode = 0;  ///< which is the cgroup's id
    std::string path;         ///< from the root of its hierarchy
};

/// The cgroup whose directory this is; nothing where it is none, or of a hierarchy that perf_event is not in.
std::optional<MadeCgroup> cgroup_at(int directory);

struct BpfFunction {
    std::uint64_t address = 0;  ///< 0: the kernel doesn't tell this user, or nothing was compiled
    std::uint32_t bytes = 0;
    std::string name;  ///< as /proc/kallsyms has it
};

struct LoadedBpf {
    subsystem::BpfProgram program;
    std::vector<BpfFunction> own;

    /// Borrowed from `own`.
    std::vector<subsystem::KernelSymbol> functions() const;
};

/// The BPF program of the descriptor, which has just been loaded.
std::optional<LoadedBpf> bpf_program(int descriptor);

}  // namespace anyperf::broker
