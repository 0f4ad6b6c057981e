// encode_amd64.cpp: core PMUs of AMD.
//
// PERF_CTL: event 0-7 and 32-35, unit mask 8-15, usr 16, os 17, edge 18, int 20, enable 22, invert 23, counter mask
// 24-31, guest 40, host 41 (AMD APM volume 2, "Performance Event-Select Registers"). Events of instruction-based
// sampling use IBS_FETCH_CTL or IBS_OP_CTL instead.
#include "events/catalog/encoding/mask_groups.h"

namespace anyperf::catalog {

namespace {

constexpr std::array<std::uint8_t, 7> kShift{17, 16, 18, 23, 24, 41, 40};  // bit of each modifier, by AmdMod
constexpr std::uint64_t kAlwaysOn = 1ULL << 20 | 1ULL << 22;               // interrupt, enable
constexpr std::uint64_t kFetchSampling = 1ULL << 48;                       // IBS_FETCH_CTL: enable
constexpr std::uint64_t kOpSampling = 1ULL << 17;                          // IBS_OP_CTL: enable

constexpr std::uint64_t width_of(unsigned modifier) {
    return modifier == static_cast<unsigned>(AmdMod::c) ? 0xff : 1;
}

// An event select has 12 bits: the low eight are in bits 0-7, the high four in bits 32-35.
std::uint64_t first_value(const EventRow& event) {
    if ((event.flags & event_flag::ibs_fetch) != 0) return kFetchSampling;
    if ((event.flags & event_flag::ibs_op) != 0) return kOpSampling;
    return (event.code & 0xff) | ((event.code >> 8) & 0xf) << 32 | kAlwaysOn;
}

/// The default levels of the caller, unless the string names one of k, u, h.
std::uint64_t default_levels(std::uint32_t given, unsigned plm) {
    if ((given & (bit(AmdMod::k) | bit(AmdMod::u) | bit(AmdMod::h))) != 0) return 0;
    return ((plm & kPlmKernel) != 0 ? 1ULL << 17 : 0) | ((plm & kPlmUser) != 0 ? 1ULL << 16 : 0) |
           ((plm & kPlmHypervisor) != 0 ? 1ULL << 41 : 0);
}

}  // namespace

Refusal encode_amd64(const Request& request, unsigned plm, Codes& out) {
    const EventRow& event = *request.event;
    MaskGroups groups{request, {.exclusive_groups = false, .omits = true}, out};
    std::uint64_t value = first_value(event);
    std::uint32_t given_modifiers = 0;
    const auto use = [&](const MaskRow& mask) { value |= (mask.code & 0xff) << 8; };
    for (const Attribute& given : request.attributes()) {
        if (given.kind == Attribute::Kind::mask) {
            RETURN_IF_REFUSED(groups.add(given));
            use(masks(event)[given.index]);
        } else if (given.kind == Attribute::Kind::raw_mask) {
            if (given.value > 0xff)
                return {ErrorCode::attribute, given.at, given.length, "a raw unit mask here has 8 bits"};
            value |= given.value << 8;
            groups.add_raw(given.value);
        } else if (given.kind == Attribute::Kind::modifier) {
            if (given.value > width_of(given.index))
                return {ErrorCode::attribute_value, given.at, given.length, "a counter mask is 0 to 255"};
            given_modifiers |= 1U << given.index;
            value |= given.value << kShift[given.index];
        }
    }
    value |= default_levels(given_modifiers, plm);
    RETURN_IF_REFUSED(groups.add_defaults(use));
    out.add(value);
    if (!request.wants_canonical) return kAccepted;
    for (unsigned index = 0; index < kShift.size(); ++index)
        if (((request.allowed.pmu >> index) & 1) != 0) out.show(index, (value >> kShift[index]) & width_of(index));
    return kAccepted;
}

}  // namespace anyperf::catalog
