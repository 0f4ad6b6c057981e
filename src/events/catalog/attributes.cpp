// attributes.cpp: see attributes.h.
#include "events/catalog/attributes.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint32_t kPerfLayer =
    bit(PerfMod::u) | bit(PerfMod::k) | bit(PerfMod::h) | bit(PerfMod::mg) | bit(PerfMod::mh);
constexpr std::uint32_t kExtLayer = (1 << 12) - 1;
constexpr std::uint32_t kSampling = bit(PerfMod::freq) | bit(PerfMod::precise) | bit(PerfMod::period);
constexpr std::uint32_t kLevels = bit(PerfMod::u) | bit(PerfMod::k) | bit(PerfMod::mg) | bit(PerfMod::mh);
constexpr std::uint32_t kPreciseOnes = bit(PerfMod::precise) | bit(PerfMod::hw_smpl);

// libpfm's test for "hw_smpl" looks at the index alone, so the PMU's own modifier 11 (the boxes' `nc`) goes with it.
constexpr std::uint32_t kIndexEleven = 1U << static_cast<unsigned>(PerfMod::hw_smpl);
// Likewise it drops "k and u" by index, which are e and i of the Nehalem boxes.
constexpr std::uint32_t kFirstTwo = 3;

bool visible(const PmuRow& pmu, const RuleRow& limits) {
    if (limits.model != 0 && limits.model != pmu.id) return false;
    return pmu.revision >= limits.from && (limits.till == 0 || pmu.revision <= limits.till);
}

std::uint32_t removed_by_box(const PmuRow& pmu) {
    return ((pmu.flags & pmu_flag::no_smpl) != 0 ? kSampling : 0) | (pmu.plm == 0 ? kLevels : 0);
}

std::uint32_t removed_for_x86(const PmuRow& pmu, const EventRow& event) {
    const bool precise = any_precise(pmu, event);
    std::uint32_t removed = bit(PerfMod::h) | removed_by_box(pmu);
    if (!precise) removed |= bit(PerfMod::precise);
    if (precise || (pmu.flags & pmu_flag::extpebs) == 0) removed |= bit(PerfMod::hw_smpl);
    return removed;
}

std::uint32_t removed_for_amd(const PmuRow& pmu) {
    constexpr unsigned kFirstWithHypervisor = 8;
    constexpr unsigned kBobcat = 11;
    const bool no_hypervisor = pmu.revision < kFirstWithHypervisor || pmu.revision == kBobcat;
    return kPreciseOnes | (no_hypervisor ? bit(PerfMod::h) : 0);
}

std::uint32_t removed_for_perf(const Machine& machine, const EventRow& event) {
    constexpr std::uint32_t kHardware = 0;
    constexpr std::uint32_t kCache = 3;
    if (event.detail != kHardware && event.detail != kCache)
        return bit(PerfMod::hw_smpl) | bit(PerfMod::precise) | bit(PerfMod::h);
    const unsigned levels = machine.core_plm() == 0 ? kPlmUser | kPlmKernel | kPlmHypervisor : machine.core_plm();
    return bit(PerfMod::hw_smpl) | ((levels & kPlmUser) != 0 ? 0 : bit(PerfMod::u)) |
           ((levels & kPlmKernel) != 0 ? 0 : bit(PerfMod::k)) | ((levels & kPlmHypervisor) != 0 ? 0 : bit(PerfMod::h));
}

/// What the perf layers take away.
Possible removed(const Machine& machine, const PmuRow& pmu, const EventRow& event) {
    switch (pmu.perf_attrs) {
        case PerfAttrs::x86: return {kFirstTwo, removed_for_x86(pmu, event)};
        case PerfAttrs::snbep_unc: return {kIndexEleven, kPreciseOnes | bit(PerfMod::h) | removed_by_box(pmu)};
        case PerfAttrs::amd64: return {bit(AmdMod::k) | bit(AmdMod::u) | bit(AmdMod::h), removed_for_amd(pmu)};
        case PerfAttrs::netburst: return {bit(P4Mod::u) | bit(P4Mod::k), kPreciseOnes | bit(PerfMod::h)};
        case PerfAttrs::arm: return {bit(ArmMod::k) | bit(ArmMod::u) | bit(ArmMod::hv), kPreciseOnes};
        case PerfAttrs::no_precise: return {0, kPreciseOnes};
        case PerfAttrs::perf: return {0, removed_for_perf(machine, event)};
        case PerfAttrs::amd64_nb:
        case PerfAttrs::all: return {0, 0};
    }
    return {0, 0};
}

/// The architectural PMU's modifiers follow the version in CPUID leaf 0xA.
std::uint32_t arch_modifiers(unsigned version) {
    const std::uint32_t first = bit(X86Mod::k) | bit(X86Mod::u) | bit(X86Mod::e) | bit(X86Mod::i) | bit(X86Mod::c);
    const std::uint32_t any_thread = bit(X86Mod::t);
    const std::uint32_t transactions = bit(X86Mod::intx) | bit(X86Mod::intxcp);
    switch (version) {
        case 0:
        case 1:
        case 2: return first;
        case 3: return first | any_thread;
        case 4: return first | any_thread | transactions;
        default: return first | transactions;
    }
}

}  // namespace

bool visible(const PmuRow& pmu, const EventRow& event) {
    return (event.flags & event_flag::limited) == 0 || visible(pmu, rule(event));
}

bool visible(const PmuRow& pmu, const MaskRow& mask) {
    return (mask.flags & mask_flag::limited) == 0 || visible(pmu, rule(mask));
}

bool any_precise(const PmuRow& pmu, const EventRow& event) {
    if ((event.flags & event_flag::pebs) != 0) return true;
    if ((event.flags & event_flag::mask_pebs) == 0) return false;
    if ((event.flags & event_flag::limited_masks) == 0) return true;
    for (const MaskRow& mask : masks(event))
        if ((mask.flags & mask_flag::pebs) != 0 && visible(pmu, mask)) return true;
    return false;
}

Possible possible_attributes(const Machine& machine, const PmuRow& pmu, const EventRow& event, Os os) {
    const bool architectural = (pmu.flags & pmu_flag::host_events) != 0 && pmu.modset == Modset::x86;
    Possible possible{architectural ? arch_modifiers(machine.arch_version()) : event.modifiers, 0};
    if (os == Os::none) return possible;
    const Possible gone = removed(machine, pmu, event);
    possible.pmu &= ~gone.pmu;
    possible.perf = (os == Os::perf ? kPerfLayer : kExtLayer) & ~gone.perf;
    return possible;
}

}  // namespace anyperf::catalog
