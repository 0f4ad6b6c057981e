// encode_arm.cpp: core PMUs of ARM: the event number and bits that exclude a privilege level.
//
// The code has the layout of libpfm (pfm_arm_reg_t in pfmlib_arm_priv.h), whose level bits are not those of the
// register PMEVTYPER<n>_EL0: there bit 31 (P) excludes EL1, bit 30 (U) excludes EL0, and bit 27 (NSH) includes EL2. The
// kernel sets the register's bits itself, and the perf layers remove these from config (kArmLevels in perf_layer.cpp).
#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

namespace {

struct Level {
    ArmMod modifier;
    unsigned plm;
    std::uint64_t excludes;  ///< set if the level is not counted
};
constexpr std::array kLevels{
    Level{ArmMod::k, kPlmKernel, 1ULL << 30},
    Level{ArmMod::u, kPlmUser, 1ULL << 31},
    Level{ArmMod::hv, kPlmHypervisor, 1ULL << 27},
};

}  // namespace

// The code excludes levels where those of other PMUs include them, so a level that is wanted leaves its bit 0.
Refusal encode_arm(const Request& request, unsigned plm, Codes& out) {
    const EventRow& event = *request.event;
    std::uint64_t value = event.code & 0xffffffff;
    bool given_levels = false;
    unsigned wanted = 0;
    for (const Attribute& given : request.attributes()) {
        if (given.kind != Attribute::Kind::modifier) continue;
        given_levels = true;
        if (given.value != 0) wanted |= kLevels[given.index].plm;
    }
    if (!given_levels) wanted = plm;
    if (event.modifiers != 0)
        for (const Level& level : kLevels)
            if ((wanted & level.plm) == 0) value |= level.excludes;
    out.add(value);
    for (const Level& level : kLevels)
        if ((request.allowed.pmu & bit(level.modifier)) != 0) out.show(level.modifier, (value & level.excludes) == 0);
    return kAccepted;
}

}  // namespace anyperf::catalog
