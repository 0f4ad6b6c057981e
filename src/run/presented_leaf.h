// presented_leaf.h: which row of the presented CPU decides the answer of a leaf of CPUID.
#pragma once

#include <cstdint>

#include "run/facts.h"

namespace anyperf::run {

/// The first row for the leaf and subleaf; null: the answer is the host's. `subleaf` ~0: a row for all subleaves.
inline const RunHeader::IdentityRow* presented_leaf(const RunHeader& run, std::uint32_t leaf, std::uint32_t subleaf) {
    for (std::uint32_t i = 0; i < run.identity_rows && i < kIdentityRows; ++i) {
        const RunHeader::IdentityRow& row = run.identity[i];
        if (row.leaf == leaf && (row.subleaf == ~0u || row.subleaf == subleaf)) return &row;
    }
    return nullptr;
}

/// Whether a part of the host's answer is shown.
inline bool keeps_something(const RunHeader::IdentityRow& row) {
    return (row.keep[0] | row.keep[1] | row.keep[2] | row.keep[3]) != 0;
}

}  // namespace anyperf::run
