// attributes.h: which masks and modifiers an event takes on a machine, for each of libpfm's OS layers.
#pragma once

#include <cstdint>

#include "events/catalog/machine.h"
#include "events/catalog/tables.h"

namespace anyperf::catalog {

/// libpfm's layers (pfm_get_os_event_encoding(3)): the PMU alone, perf_event_attr, perf_event_attr with all of its own.
enum class Os : std::uint8_t { none, perf, perf_ext };

// Indexes of modifiers, as in data/events/modifiers.tsv; attributes_test.cpp compares them.
enum class X86Mod : std::uint8_t { k, u, e, i, c, t, ldlat, intx, intxcp, fe_thres };
enum class NhmMod : std::uint8_t { e, i, c, o };
enum class AmdMod : std::uint8_t { k, u, e, i, c, h, g };
enum class P4Mod : std::uint8_t { u, k, cmpl, e, thr };
enum class BoxMod : std::uint8_t {
    e,
    i,
    t8,
    t5,
    tf,
    cf,
    nf,
    ff,
    addr,
    nf1,
    isoc,
    nc,
    cf1,
    tf1,
    cf2,
    loc,
    rem,
    lmem,
    rmem,
    dnid,
    rcsnid,
    t6,
    occ_i,
    occ_e
};
enum class ArmMod : std::uint8_t { k, u, hv };
enum class PerfMod : std::uint8_t { u, k, h, period, freq, precise, excl, mg, mh, cpu, pinned, hw_smpl };

template <class Mod>
constexpr std::uint32_t bit(Mod modifier) {
    return std::uint32_t{1} << static_cast<unsigned>(modifier);
}

constexpr unsigned kPlmKernel = 1, kPlmUser = 8, kPlmHypervisor = 16;  // PFM_PLM0, PFM_PLM3, PFM_PLMH

/// Bit i: the modifier of index i can be given.
struct Possible {
    std::uint32_t pmu = 0;   ///< of the PMU's modifier set
    std::uint32_t perf = 0;  ///< of perf's own, modifier set `perf`
};

Possible possible_attributes(const Machine& machine, const PmuRow& pmu, const EventRow& event, Os os);

/// Whether this model of the family has the event, the mask.
bool visible(const PmuRow& pmu, const EventRow& event);
bool visible(const PmuRow& pmu, const MaskRow& mask);

/// Whether the event itself or one of its masks here is precise.
bool any_precise(const PmuRow& pmu, const EventRow& event);

}  // namespace anyperf::catalog
