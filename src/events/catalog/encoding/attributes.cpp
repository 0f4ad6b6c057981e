// attributes.cpp: the perf layers remove the same modifiers as libpfm, because programs compare the two.
#include "events/catalog/encoding/attributes.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint32_t kPerfLayer =
    bit(PerfMod::u) | bit(PerfMod::k) | bit(PerfMod::h) | bit(PerfMod::mg) | bit(PerfMod::mh);
constexpr std::uint32_t kExtLayer = (1 << 12) - 1;
constexpr std::uint32_t kSampling = bit(PerfMod::freq) | bit(PerfMod::precise) | bit(PerfMod::period);
constexpr std::uint32_t kLevels = bit(PerfMod::u) | bit(PerfMod::k) | bit(PerfMod::mg) | bit(PerfMod::mh);
constexpr std::uint32_t kPreciseOnes = bit(PerfMod::precise) | bit(PerfMod::hw_smpl);

// libpfm tests for "hw_smpl" by index alone, so it also removes modifier 11 of the PMU (`nc` of the boxes).
constexpr std::uint32_t kIndexEleven = 1U << static_cast<unsigned>(PerfMod::hw_smpl);
// libpfm removes "k and u" by index, too; for the Nehalem boxes these indexes are e and i.
constexpr std::uint32_t kFirstTwo = 3;

bool model_has(const PmuRow& pmu, const RuleRow& limits) {
    if (limits.model != 0 && limits.model != pmu.id) return false;
    return pmu.revision >= limits.first_revision && (limits.last_revision == 0 || pmu.revision <= limits.last_revision);
}

/// Uncore boxes: most can neither sample nor filter by privilege level.
std::uint32_t removed_by_box(const PmuRow& pmu) {
    return ((pmu.flags & pmu_flag::no_smpl) != 0 ? kSampling : 0) | (pmu.plm == 0 ? kLevels : 0);
}

/// precise needs an event that can be sampled precisely. hw_smpl is for the others, on PMUs that can use the sampling
/// buffer for any event.
std::uint32_t removed_for_x86(const PmuRow& pmu, const EventRow& event) {
    const bool precise = can_be_precise(pmu, event);
    std::uint32_t removed = bit(PerfMod::h) | removed_by_box(pmu);
    if (!precise) removed |= bit(PerfMod::precise);
    if (precise || (pmu.flags & pmu_flag::extpebs) == 0) removed |= bit(PerfMod::hw_smpl);
    return removed;
}

/// AMD has no precise events here. The hypervisor level comes with revision 8 (family 10h); only revision 11 (family
/// 11h, Turion) lacks it again (libpfm4, pfm_amd64_supports_virt()).
std::uint32_t removed_for_amd(const PmuRow& pmu) {
    constexpr unsigned kFirstWithHypervisor = 8;
    constexpr unsigned kBobcat = 11;
    const bool no_hypervisor = pmu.revision < kFirstWithHypervisor || pmu.revision == kBobcat;
    return kPreciseOnes | (no_hypervisor ? bit(PerfMod::h) : 0);
}

/// The generic hardware and cache events have the levels of the core PMU; other kernel events have no precise and no
/// hypervisor level.
std::uint32_t removed_for_perf(const MachinePmus& machine, const EventRow& event) {
    constexpr std::uint32_t kHardware = 0;
    constexpr std::uint32_t kCache = 3;
    if (event.detail != kHardware && event.detail != kCache)
        return bit(PerfMod::hw_smpl) | bit(PerfMod::precise) | bit(PerfMod::h);
    const unsigned levels = machine.core_plm() == 0 ? kPlmUser | kPlmKernel | kPlmHypervisor : machine.core_plm();
    return bit(PerfMod::hw_smpl) | ((levels & kPlmUser) != 0 ? 0 : bit(PerfMod::u)) |
           ((levels & kPlmKernel) != 0 ? 0 : bit(PerfMod::k)) | ((levels & kPlmHypervisor) != 0 ? 0 : bit(PerfMod::h));
}

/// The modifiers that the perf layers remove. In the perf layers a level is chosen by perf's own u, k and h, so the
/// PMU's modifiers for the same levels go away; the sampling modifiers stay only where the PMU can sample.
AllowedModifiers removed(const MachinePmus& machine, const PmuRow& pmu, const EventRow& event) {
    switch (pmu.perf_attrs) {
        case PerfAttrs::x86: return {kFirstTwo, removed_for_x86(pmu, event)};
        case PerfAttrs::snbep_unc: return {kIndexEleven, kPreciseOnes | bit(PerfMod::h) | removed_by_box(pmu)};
        case PerfAttrs::amd64: return {bit(AmdMod::k) | bit(AmdMod::u) | bit(AmdMod::h), removed_for_amd(pmu)};
        case PerfAttrs::netburst: return {bit(P4Mod::u) | bit(P4Mod::k), kPreciseOnes | bit(PerfMod::h)};
        case PerfAttrs::arm: return {bit(ArmMod::k) | bit(ArmMod::u) | bit(ArmMod::hv), kPreciseOnes};
        case PerfAttrs::no_precise: return {0, kPreciseOnes};
        case PerfAttrs::perf: return {0, removed_for_perf(machine, event)};
        case PerfAttrs::amd64_nb: return {0, kExtLayer};  // the northbridge neither samples nor filters
        case PerfAttrs::all: return {0, 0};
    }
    return {0, 0};
}

/// The modifiers of the architectural PMU depend on the version in CPUID leaf 0xA.
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

bool model_has(const PmuRow& pmu, const EventRow& event) {
    return (event.flags & event_flag::limited) == 0 || model_has(pmu, rule(event));
}

bool model_has(const PmuRow& pmu, const MaskRow& mask) {
    return (mask.flags & mask_flag::limited) == 0 || model_has(pmu, rule(mask));
}

bool can_be_precise(const PmuRow& pmu, const EventRow& event) {
    if ((event.flags & event_flag::pebs) != 0) return true;
    if ((event.flags & event_flag::mask_pebs) == 0) return false;
    if ((event.flags & event_flag::limited_masks) == 0) return true;
    for (const MaskRow& mask : masks(event))
        if ((mask.flags & mask_flag::pebs) != 0 && model_has(pmu, mask)) return true;
    return false;
}

AllowedModifiers allowed_modifiers(const MachinePmus& machine, const PmuRow& pmu, const EventRow& event, Os os) {
    const bool architectural = (pmu.flags & pmu_flag::host_events) != 0 && pmu.modset == Modset::x86;
    AllowedModifiers allowed{architectural ? arch_modifiers(machine.arch_version()) : event.modifiers, 0};
    if (os == Os::none) return allowed;
    const AllowedModifiers gone = removed(machine, pmu, event);
    allowed.pmu &= ~gone.pmu;
    allowed.perf = (os == Os::perf ? kPerfLayer : kExtLayer) & ~gone.perf;
    return allowed;
}

}  // namespace anyperf::catalog
