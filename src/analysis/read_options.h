// read_options.h: what a reader of a recording keeps of its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/namer.h"
#include "analysis/time_ranges.h"
#include "profile/profile.h"
#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"

namespace anyperf::analysis {

struct ReadOptions {
    TimeRanges time{};         ///< samples of other times are not read; percentages are resolved by read_profile()
    std::vector<bool> cpus{};  ///< by number: samples of other CPUs are not read; empty: all are
    bool call_chains = true;   ///< false: a stack is the sample's own address only
    std::size_t most_frames = ~std::size_t{0};  ///< of a call chain that are kept, from the innermost on
    bool addresses = true;                      ///< false: addresses of a function are one; not with call_chains
    bool pid = false;                           ///< keep the process of each sample,
    bool tid = false;                           ///< its thread,
    bool cpu = false;                           ///< its CPU,
    profile::Parts parts{};                     ///< and what else it says; each different Detail makes rows of its own
    /// Fields of tracepoints, with Part::trace_fields: "prev_comm", of one tracepoint only
    /// "sched:sched_switch.prev_comm", and as in the sample, not as the tracepoint prints it, "prev_state/raw".
    std::vector<std::string> trace_fields{};
    std::uint64_t time_quantum = profile::kTimeQuantum;  ///< with Part::time
    bool traces_of_tracepoints = false;                  ///< keep Part::trace if all events are tracepoints
    bool branches = false;        ///< each branch of a sample is a sample of its own, at its target
    bool by_weight = false;       ///< the period of a sample is its weight, as in `perf report --mem-mode`
    SourceOptions source{};       ///< what is asked of DWARF
    bool no_interpreter = false;  ///< stacks of Python functions lack the frames of the interpreter
    bool times = false;           ///< and each sample as a row of its own, in time order
    symbols::SymbolPaths paths;   ///< where the mapped files and their names are
    /// Not owned. Null: a copied stack gives the sample's own address only.
    symbols::StackUnwinder* unwinder = nullptr;

    /// Whether a sample of this time and CPU is read at all.
    bool reads(std::uint64_t time_ns, std::uint32_t on_cpu) const {
        return time.has(time_ns) && (cpus.empty() || (on_cpu < cpus.size() && cpus[on_cpu]));
    }
};

}  // namespace anyperf::analysis
