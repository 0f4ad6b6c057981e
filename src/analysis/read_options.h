// read_options.h: what a reader of a recording keeps of its samples.
#pragma once

#include <cstdint>

#include "analysis/namer.h"
#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"

namespace anyperf::analysis {

/// Of which recordings the texts of tracepoints' samples are kept: each different text makes a row of its own.
enum class Traces : std::uint8_t { none, of_tracepoints_only, all };

struct ReadOptions {
    bool call_chains = true;  ///< false: a stack is the sample's own address only
    bool pid = false;         ///< keep the process of each sample,
    bool tid = false;         ///< its thread,
    bool cpu = false;         ///< its CPU,
    Traces traces = Traces::none;
    SourceOptions source{};      ///< what is asked of DWARF
    bool times = false;          ///< and each sample as a row of its own, in time order
    symbols::SymbolPaths paths;  ///< where the mapped files and their names are
    /// Not owned. Null: a copied stack gives the sample's own address only.
    symbols::StackUnwinder* unwinder = nullptr;
};

}  // namespace anyperf::analysis
