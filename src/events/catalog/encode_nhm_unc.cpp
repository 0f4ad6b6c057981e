// encode_nhm_unc.cpp: the uncore of Nehalem and Westmere: a PERFEVTSEL without privilege levels and overrides.
#include "events/catalog/mask_groups.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint64_t kAlwaysOn = 1ULL << 20 | 1ULL << 22;
constexpr std::uint64_t kUnitMask = 0xff00;
constexpr std::array<std::uint8_t, 4> kShift{18, 23, 24, 17};  // by NhmMod

Refusal take_modifier(const Given& given, std::uint64_t& value) {
    if (given.index == static_cast<unsigned>(NhmMod::c) && given.value > 255)
        return {Code::invalid, given.at, given.length, "a counter mask is 0 to 255"};
    const std::uint64_t field = given.index == static_cast<unsigned>(NhmMod::c) ? 0xff : 1;
    value = (value & ~(field << kShift[given.index])) | given.value << kShift[given.index];
    return kAccepted;
}

Refusal check_hardwired(const Request& request) {
    std::uint32_t fixed = 0;
    for (const Given& given : request.attributes())
        if (given.kind == Given::Kind::mask) fixed |= rule(masks(*request.event)[given.index]).hardwired;
    for (const Given& given : request.attributes())
        if (given.kind == Given::Kind::modifier && ((fixed >> given.index) & 1) != 0 && given.value != 0)
            return {Code::attribute_set, given.at, given.length, "a unit mask fixes this modifier"};
    return kAccepted;
}

Refusal check_required(const Request& request, std::uint32_t required) {
    std::uint32_t found = 0;
    for (const Given& given : request.attributes())
        if (given.kind == Given::Kind::modifier) found |= 1U << given.index;
    if (required == 0 || found == required) return kAccepted;
    return {Code::attribute, request.event_at, request.event_length,
            "this event or mask requires certain modifiers, no others"};
}

void show(const Request& request, std::uint64_t value, Codes& out) {
    for (unsigned index = 0; index < kShift.size(); ++index)
        if (((request.possible.pmu >> index) & 1) != 0)
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
    for (const Given& given : request.attributes()) {
        if (given.kind == Given::Kind::mask) {
            REFUSE_IF_REFUSED(groups.give(given));
            use(masks(*request.event)[given.index]);
        } else if (given.kind == Given::Kind::raw_mask) {
            if (given.value > 0xff) return {Code::attribute, given.at, given.length, "a raw unit mask here has 8 bits"};
            value = (value & ~kUnitMask) | given.value << 8;
            groups.give_raw(given.value);
        } else if (given.kind == Given::Kind::modifier) {
            REFUSE_IF_REFUSED(take_modifier(given, value));
        }
    }
    REFUSE_IF_REFUSED(check_hardwired(request));
    REFUSE_IF_REFUSED(groups.add_defaults(use));
    REFUSE_IF_REFUSED(check_required(request, required));
    value |= kAlwaysOn;
    out.add(value);
    show(request, value, out);
    return kAccepted;
}

}  // namespace anyperf::catalog
