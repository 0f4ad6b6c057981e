// attributes.h: which modifiers an event takes, and which events and masks a model has.
//
// An event string has three kinds of attributes: unit masks, modifiers of the PMU (its Modset: `c=2`, `i`, `e`), and
// modifiers of perf (`u`, `k`, `period=1000`, `precise=2`). In the PMU layer (Os::none) an event takes the modifiers of
// its PMU only. In the perf layers it also takes perf's modifiers, and loses those of the PMU that perf sets itself:
// privilege levels are then attr.exclude_*, not bits of the register.
#pragma once

#include <cstdint>

#include "events/catalog/detection/machine_pmus.h"
#include "events/catalog/tables.h"

namespace anyperf::catalog {

/// The layers of pfm_get_os_event_encoding(3): the codes of the PMU alone; a perf_event_attr with the privilege
/// modifiers; a perf_event_attr with all modifiers of perf.
enum class Os : std::uint8_t { none, perf, perf_ext };

// Indexes of modifiers in their set, as in data/events/modifiers.tsv. The order must be the same.
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

/// The modifier as one bit of AllowedModifiers or of a set of modifiers.
template <class Mod>
constexpr std::uint32_t bit(Mod modifier) {
    return std::uint32_t{1} << static_cast<unsigned>(modifier);
}

constexpr unsigned kPlmKernel = 1, kPlmUser = 8, kPlmHypervisor = 16;  // PFM_PLM0, PFM_PLM3, PFM_PLMH

/// The modifiers that may be given: bit i is the modifier of index i.
struct AllowedModifiers {
    std::uint32_t pmu = 0;   ///< in the modifier set of the PMU
    std::uint32_t perf = 0;  ///< in the modifier set `perf`
};

/// The modifiers that `event` takes in the layer `os` on this machine.
AllowedModifiers allowed_modifiers(const MachinePmus& machine, const PmuRow& pmu, const EventRow& event, Os os);

/// Whether this model of the family has the event or mask. Models share tables; rows with the flag `limited` belong to
/// one PMU or to a range of AMD revisions.
bool model_has(const PmuRow& pmu, const EventRow& event);
bool model_has(const PmuRow& pmu, const MaskRow& mask);

/// Whether the event, or one of its masks that this model has, can be sampled precisely.
bool can_be_precise(const PmuRow& pmu, const EventRow& event);

}  // namespace anyperf::catalog
