// read_options.h: what a reader of a recording keeps of its samples.
#pragma once

#include "analysis/namer.h"
#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"

namespace anyperf::analysis {

struct ReadOptions {
    bool call_chains = true;     ///< false: a stack is the sample's own address only
    bool pid = false;            ///< keep the process of each sample,
    bool tid = false;            ///< its thread,
    bool cpu = false;            ///< its CPU,
    SourceOptions source{};      ///< what is asked of DWARF
    bool times = false;          ///< and each sample as a row of its own, in time order
    symbols::SymbolPaths paths;  ///< where the mapped files and their names are
    /// Not owned. Null: a copied stack gives the sample's own address only.
    symbols::StackUnwinder* unwinder = nullptr;
};

}  // namespace anyperf::analysis
