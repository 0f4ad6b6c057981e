// encode_nhm_unc.cpp: the uncore of Nehalem and Westmere: a register like PERFEVTSEL (encode_x86.cpp) without privilege
// levels, event code overrides and extra registers. Modifiers: edge 18, invert 23, counter mask 24-31, occupancy
// counter reset 17.
#include "events/catalog/encoding/mask_groups.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint64_t kAlwaysOn = 1ULL << 20 | 1ULL << 22;  // interrupt, enable
constexpr std::uint64_t kUnitMask = 0xff00;
constexpr std::array<std::uint8_t, 4> kShift{18, 23, 24, 17};  // by NhmMod

Refusal accept_modifier(const Attribute& given, std::uint64_t& value) {
    if (given.index == static_cast<unsigned>(NhmMod::c) && given.value > 255)
        return {ErrorCode::invalid, given.at, given.length, "a counter mask is 0 to 255"};
    const std::uint64_t field = given.index == static_cast<unsigned>(NhmMod::c) ? 0xff : 1;
    value = (value & ~(field << kShift[given.index])) | given.value << kShift[given.index];
    return kAccepted;
}

/// A modifier that the code of a mask fixes can't be given, unless it is 0.
Refusal check_hardwired(const Request& request) {
    std::uint32_t fixed = 0;
    for (const Attribute& given : request.attributes())
        if (given.kind == Attribute::Kind::mask) fixed |= rule(masks(*request.event)[given.index]).hardwired;
    for (const Attribute& given : request.attributes())
        if (given.kind == Attribute::Kind::modifier && ((fixed >> given.index) & 1) != 0 && given.value != 0)
            return {ErrorCode::attribute_set, given.at, given.length, "a unit mask fixes this modifier"};
    return kAccepted;
}

/// If any modifiers are required, those of the string must be exactly these.
Refusal check_required(const Request& request, std::uint32_t required) {
    std::uint32_t found = 0;
    for (const Attribute& given : request.attributes())
        if (given.kind == Attribute::Kind::modifier) found |= 1U << given.index;
    if (required == 0 || found == required) return kAccepted;
    return {ErrorCode::attribute, request.event_at, request.event_length,
            "this event or unit mask requires certain modifiers and takes no others"};
}

/// The values that the canonical string prints.
void show(const Request& request, std::uint64_t value, Codes& out) {
    for (unsigned index = 0; index < kShift.size(); ++index)
        if (((request.allowed.pmu >> index) & 1) != 0)
            out.show(index, (value >> kShift[index]) & (index == static_cast<unsigned>(NhmMod::c) ? 0xff : 1));
}

}  // namespace

Refusal encode_nhm_unc(const Request& request, unsigned /*plm*/, Codes& out) {
    MaskGroups groups{request, {}, out};
    std::uint64_t value = request.event->code;
    std::uint32_t required = rule(*request.event).required;
    const auto use = [&](const MaskRow& mask) {
        value |= mask.code & ~std::uint64_t{0xff};
        required |= rule(mask).required;
    };
    for (const Attribute& given : request.attributes()) {
        if (given.kind == Attribute::Kind::mask) {
            RETURN_IF_REFUSED(groups.add(given));
            use(masks(*request.event)[given.index]);
        } else if (given.kind == Attribute::Kind::raw_mask) {
            if (given.value > 0xff)
                return {ErrorCode::attribute, given.at, given.length, "a raw unit mask here has 8 bits"};
            value = (value & ~kUnitMask) | given.value << 8;
            groups.add_raw(given.value);
        } else if (given.kind == Attribute::Kind::modifier) {
            RETURN_IF_REFUSED(accept_modifier(given, value));
        }
    }
    RETURN_IF_REFUSED(check_hardwired(request));
    RETURN_IF_REFUSED(groups.add_defaults(use));
    RETURN_IF_REFUSED(check_required(request, required));
    value |= kAlwaysOn;
    out.add(value);
    show(request, value, out);
    return kAccepted;
}

}  // namespace anyperf::catalog
