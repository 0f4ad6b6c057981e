// kernel_objects.h: kernel objects that a program of the run has made and that side-band records describe: cgroups and
// BPF programs. The program sends a descriptor of the object, and the broker asks the kernel about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/records/kernel_text.h"

namespace anyperf::broker {

struct MadeCgroup {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< of its directory, which is the cgroup's id
    std::string path;         ///< from the root of its hierarchy
};

/// The cgroup of a directory; nullopt if the descriptor is not a cgroup's directory, or if that hierarchy does not have
/// the perf_event controller.
std::optional<MadeCgroup> cgroup_at(int directory);

struct BpfFunction {
    std::uint64_t address = 0;  ///< 0: the kernel hides it from this user, or did not compile the program (JIT)
    std::uint32_t bytes = 0;
    std::string name;  ///< as in /proc/kallsyms; may differ if a function has type information (kernel_objects.cpp)
};

struct LoadedBpf {
    subsystem::BpfProgram program;
    std::vector<BpfFunction> functions;  ///< one for each function that the kernel reports, at least one

    /// The functions as symbols for records. Their names point into `functions`.
    std::vector<subsystem::KernelSymbol> symbols() const;
};

/// The BPF program of a descriptor; nullopt if the descriptor is not a BPF program's, or if the kernel refuses to
/// describe the program.
std::optional<LoadedBpf> bpf_program(int descriptor);

}  // namespace anyperf::broker
