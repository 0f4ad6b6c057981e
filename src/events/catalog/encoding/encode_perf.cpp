// encode_perf.cpp: the generic events of the kernel (perf_event_open(2), "config"). The event of a cache has two
// groups of masks, an operation and a result, and takes one mask of each. A group without a mask gets its default. A
// system of tracepoints takes one tracepoint as its mask; without one the code is 0, as in libpfm.
#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

namespace {

Refusal encode_tracepoint(const Request& request, Codes& out) {
    std::uint64_t id = 0;
    for (const Attribute& given : request.attributes()) {
        if (given.kind != Attribute::Kind::mask) continue;
        if (out.mask_count != 0)
            return {ErrorCode::feature_combination, given.at, given.length, "tracepoints can't be combined"};
        out.use_mask(given.index);
        id = masks(*request.event)[given.index].code;
    }
    out.add(id);
    return kAccepted;
}

}  // namespace

Refusal encode_perf(const Request& request, unsigned /*plm*/, Codes& out) {
    const EventRow& event = *request.event;
    if ((event.flags & event_flag::host) != 0) return encode_tracepoint(request, out);
    std::uint64_t value = event.code;
    std::uint32_t groups = 0;
    for (const Attribute& given : request.attributes()) {
        if (given.kind != Attribute::Kind::mask) continue;
        const MaskRow& mask = masks(event)[given.index];
        if (((groups >> mask.group) & 1) != 0)
            return {ErrorCode::umask, given.at, given.length, "a second unit mask of the same kind"};
        groups |= 1U << mask.group;
        out.use_mask(given.index);
        value |= mask.code;
    }
    std::uint32_t missing = ((1U << event.groups) - 1) & ~groups;
    std::size_t index = 0;
    for (const MaskRow& mask : masks(event)) {
        if ((mask.flags & mask_flag::dfl) != 0 && ((missing >> mask.group) & 1) != 0) {
            out.use_mask(index);
            value |= mask.code;
            missing &= ~(1U << mask.group);
        }
        ++index;
    }
    if (missing != 0)
        return {ErrorCode::umask, request.event_at, request.event_length, "this event needs an operation and a result"};
    out.add(value);
    return kAccepted;
}

}  // namespace anyperf::catalog
