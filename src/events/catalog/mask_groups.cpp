// mask_groups.cpp: see mask_groups.h.
#include "events/catalog/mask_groups.h"

namespace anyperf::catalog {

Refusal MaskGroups::give(const Given& given) {
    const MaskRow& mask = masks(*request_.event)[given.index];
    const int group = mask.group;
    const bool exclusive = rules_.exclusive_groups && (request_.event->flags & event_flag::grp_excl) != 0;
    if (exclusive && last_ != kNone && last_ != group)
        return {Code::feature_combination, given.at, given.length,
                "masks of two groups, of which this event takes one"};
    last_ = group;
    const std::uint32_t mark = 1U << group;
    if ((mask.flags & mask_flag::ncombo) != 0) uncombinable_ |= mark;
    if ((filled_ & mark) != 0 && (uncombinable_ & mark) != 0)
        return {Code::feature_combination, given.at, given.length, "can't be combined with another mask of its group"};
    filled_ |= mark;
    if ((mask.flags & mask_flag::excl_grp_gt) != 0) limit_ = given_limit_ = group;
    if ((mask.flags & mask_flag::excl_grp_but_0) != 0) only_besides_0_ = group;
    out_.use_mask(given.index);
    return kAccepted;
}

bool MaskGroups::excluded(int group, int limit) const {
    if (limit != kNone && group > limit) return true;
    return only_besides_0_ != kNone && group != 0 && group != only_besides_0_;
}

bool MaskGroups::wants_defaults() const {
    if (raw_ || request_.event->groups == 0) return false;
    const bool missing = filled_ != (1U << request_.event->groups) - 1;
    const bool exclusive = rules_.exclusive_groups && (request_.event->flags & event_flag::grp_excl) != 0;
    return filled_ == 0 || (missing && (!exclusive || rules_.defaults_for_exclusive));
}

/// Known from the event alone, so that boxes with hundreds of masks need no look at each.
bool MaskGroups::excused_without_default(int group) const {
    const EventRow& event = *request_.event;
    if (event.default_groups == 0xff || (event.flags & event_flag::limited_masks) != 0) return false;
    return ((event.default_groups >> group) & 1) == 0 && ((event.excusable_groups >> group) & 1) != 0;
}

Refusal MaskGroups::check_limits() const {
    if (!rules_.refuses_above_limit || (given_limit_ == kNone && only_besides_0_ == kNone)) return kAccepted;
    for (const Given& given : request_.attributes())
        if (given.kind == Given::Kind::mask && excluded(masks(*request_.event)[given.index].group, given_limit_))
            return {Code::feature_combination, given.at, given.length, "another mask excludes the group of this one"};
    return kAccepted;
}

}  // namespace anyperf::catalog
