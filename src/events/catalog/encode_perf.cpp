// encode_perf.cpp: the kernel's own generic events (perf_event_open(2), "config"): a cache event is made of a cache, an
// operation and a result, each a group of masks.
#include "events/catalog/codes.h"

namespace anyperf::catalog {

Refusal encode_perf(const Request& request, unsigned /*plm*/, Codes& out) {
    const EventRow& event = *request.event;
    std::uint64_t value = event.code;
    std::uint32_t groups = 0;
    for (const Given& given : request.attributes()) {
        if (given.kind != Given::Kind::mask) continue;
        const MaskRow& mask = masks(event)[given.index];
        if (((groups >> mask.group) & 1) != 0)
            return {Code::umask, given.at, given.length, "a second choice of the same kind"};
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
        return {Code::umask, request.event_at, request.event_length, "this event needs an operation and a result"};
    out.add(value);
    return kAccepted;
}

}  // namespace anyperf::catalog
