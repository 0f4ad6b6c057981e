// kernel_objects.h: kernel objects that a task of the run has made and that side-band records describe: cgroups and BPF
// programs. The program sends a descriptor of the object, and the broker asks the kernel about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/records/kernel_text.h"

namespace anyperf::broker {

struct MadeCgroup {
    std::uint64_t inode = 0;  ///< of its directory, which is the cgroup's id
    std::string path;         ///< from the root of its hierarchy
};

/// The cgroup of a directory; nothing if the descriptor is not a cgroup's directory, or if perf_event is not a
/// controller of that hierarchy.
std::optional<MadeCgroup> cgroup_at(int directory);

struct BpfFunction {
    std::uint64_t address = 0;  ///< 0: the kernel hides it from this user, or the program was not compiled
    std::uint32_t bytes = 0;
    std::string name;  ///< as /proc/kallsyms has it
};

struct LoadedBpf {
    subsystem::BpfProgram program;
    std::vector<BpfFunction> functions;  ///< one for each subprogram

    /// The functions as symbols for records. Their names point into `functions`.
    std::vector<subsystem::KernelSymbol> symbols() const;
};

/// The BPF program of a descriptor; nothing if it is not one, or if the kernel refuses to describe it.
std::optional<LoadedBpf> bpf_program(int descriptor);

}  // namespace anyperf::broker
