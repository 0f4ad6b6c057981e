#include "events/catalog/encoding/mask_groups.h"

namespace anyperf::catalog {

// `uncombinable_` is set before the test, so that two masks are refused whichever of them is `ncombo`.
Refusal MaskGroups::add(const Attribute& given) {
    const MaskRow& mask = masks(*request_.event)[given.index];
    const int group = mask.group;
    const bool exclusive = rules_.exclusive_groups && (request_.event->flags & event_flag::grp_excl) != 0;
    if (exclusive && last_ != kNone && last_ != group)
        return {ErrorCode::feature_combination, given.at, given.length,
                "this event takes unit masks of one group only"};
    last_ = group;
    const std::uint32_t mark = 1U << group;
    if ((mask.flags & mask_flag::ncombo) != 0) uncombinable_ |= mark;
    if ((filled_ & mark) != 0 && (uncombinable_ & mark) != 0)
        return {ErrorCode::feature_combination, given.at, given.length,
                "can't be combined with another mask of its group"};
    filled_ |= mark;
    if ((mask.flags & mask_flag::excl_grp_gt) != 0) limit_ = given_limit_ = group;
    if ((mask.flags & mask_flag::excl_grp_but_0) != 0) only_besides_0_ = group;
    out_.use_mask(given.index);
    return kAccepted;
}

/// Whether `group` is above `limit`, or not among the groups that an excl_grp_but_0 mask leaves.
bool MaskGroups::excluded(int group, int limit) const {
    if (limit != kNone && group > limit) return true;
    return only_besides_0_ != kNone && group != 0 && group != only_besides_0_;
}

/// No defaults after a raw mask, if no group is empty, or if a mask of a `grp_excl` event is given.
bool MaskGroups::wants_defaults() const {
    if (raw_ || request_.event->groups == 0) return false;
    const bool missing = filled_ != (1U << request_.event->groups) - 1;
    const bool exclusive = rules_.exclusive_groups && (request_.event->flags & event_flag::grp_excl) != 0;
    return filled_ == 0 || (missing && (!exclusive || rules_.defaults_for_exclusive));
}

/// True: `group` has no default mask and may stay empty. This is known without a look at each mask, of which some boxes
/// have more than a hundred. False means only that the masks must be looked at.
bool MaskGroups::excused_without_default(int group) const {
    const EventRow& event = *request_.event;
    if (event.default_groups == 0xff || (event.flags & event_flag::limited_masks) != 0) return false;
    return ((event.default_groups >> group) & 1) == 0 && ((event.excusable_groups >> group) & 1) != 0;
}

Refusal MaskGroups::check_limits() const {
    if (!rules_.refuses_above_limit || (given_limit_ == kNone && only_besides_0_ == kNone)) return kAccepted;
    for (const Attribute& given : request_.attributes())
        if (given.kind == Attribute::Kind::mask && excluded(masks(*request_.event)[given.index].group, given_limit_))
            return {ErrorCode::feature_combination, given.at, given.length,
                    "another mask excludes the group of this one"};
    return kAccepted;
}

}  // namespace anyperf::catalog
