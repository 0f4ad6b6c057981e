// branch_cycles.h: the `cycles` of a branch entry: how long the code ran that leads from one taken branch to the next.
//
// Nothing is measured while the program runs. No branch was taken between the two, so the code is known: it is computed
// when the sample is taken what it costs, as the code of a segment costs it (engine/x86_64/translate/cost.h), and each
// thread keeps the last results. If the code has changed since, the result may be that of the old code.
#pragma once

#include <cstdint>

#include "models/machine.h"

namespace anyperf::agent {

/// Results of straight_cycles(), by their addresses.
struct KnownCycles {
    static constexpr std::uint32_t kEntries = 32;
    struct Entry {
        std::uint64_t start;
        std::uint32_t bytes;  ///< 0: the entry is empty
        std::uint32_t cycles;
    };
    Entry entries[kEntries];
};

/// What the instructions from `start` up to and including the branch at `branch` cost, in cycles, at least 1. 0: they
/// do not lead there, as after a signal, or there are more than 4 KiB of them, or a system call is among them.
std::uint32_t straight_cycles(KnownCycles& known, std::uint64_t start, std::uint64_t branch,
                              const models::Machine& machine);

}  // namespace anyperf::agent
