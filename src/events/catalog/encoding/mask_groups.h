// mask_groups.h: which unit masks of an event may be combined, and which are added by default. The encoders of Intel
// core PMUs, Intel uncore boxes and AMD share these rules.
//
// The masks of an event are in groups, numbered from 0. An event string must select at least one mask of each group,
// with the exceptions below. The codes of all selected masks are ORed into the register. For example, an offcore event
// has a group of request types and a group of responses.
//
// - add() adds a mask that the string names. Two masks of one group are refused if one of them is `ncombo`. Masks of
//   two groups are refused if the event is `grp_excl`.
// - add_raw() adds `:0xNN`. Such a mask replaces those of all groups, so no defaults are added.
// - add_defaults() adds the `dfl` masks of each group for which the string names none; to a `grp_excl` event it adds
//   only the first of them. A group may stay empty if a mask excludes it (`excl_grp_gt` excludes all groups above its
//   own, `excl_grp_but_0` all but its own and group 0), if one of its masks is `grp_dfl_none`, or on AMD if all of its
//   masks are `omit`. If any other group has no mask and no default, the event is refused: "this event needs a unit
//   mask".
// - check_limits() refuses a mask that the string names if another one that it names excludes its group.
//
// These rules do not concern modifiers: each encoder writes those into bits of their own.
#pragma once

#include <array>
#include <cstdint>

#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

/// The rules that differ between encoders.
struct GroupRules {
    bool exclusive_groups = true;         ///< `grp_excl` has an effect
    bool defaults_for_exclusive = false;  ///< a `grp_excl` event that has a mask still gets defaults
    bool refuses_above_limit = false;     ///< check_limits() has an effect
    bool omits = false;                   ///< a group may stay empty if all of its masks are `omit`
};

/// The masks of one request. Records each accepted mask in `out`; the encoder writes its code.
class MaskGroups {
  public:
    MaskGroups(const Request& request, GroupRules rules, Codes& out) : request_(request), rules_(rules), out_(out) {}

    /// Accepts or refuses a mask that the string names. To be called in the order of the string.
    Refusal add(const Attribute& given);
    /// Accepts a raw mask, which replaces the masks of all groups.
    void add_raw(std::uint64_t value) {
        raw_ = true;
        out_.raw_mask = value;
    }

    /// Adds the default masks of the groups without a mask, and calls use(mask) for each of them. Refuses the event if
    /// a group must have a mask and has no default.
    template <class Use>
    Refusal add_defaults(Use&& use);
    /// Refuses the request if one mask that the string names excludes another one that it names.
    Refusal check_limits() const;

  private:
    static constexpr std::size_t kMaxGroups = 32;
    static constexpr int kNone = -1;

    bool wants_defaults() const;
    bool excused_without_default(int group) const;
    bool excluded(int group) const { return excluded(group, limit_); }
    bool excluded(int group, int limit) const;
    template <class Use>
    Refusal add_defaults_of(int group, Use&& use, bool& done);

    const Request& request_;
    GroupRules rules_;
    Codes& out_;
    bool raw_ = false;
    std::uint32_t filled_ = 0;        ///< bit i: group i has a mask
    std::uint32_t uncombinable_ = 0;  ///< bit i: group i has an `ncombo` mask
    int last_ = kNone;                ///< group of the last mask that add() accepted
    int limit_ = kNone;               ///< groups above it get no default mask
    int given_limit_ = kNone;         ///< set by a mask that the string names: groups above it may have no mask at all
    int only_besides_0_ = kNone;      ///< all groups but this one and group 0 are excluded
};

template <class Use>
Refusal MaskGroups::add_defaults(Use&& use) {
    if (!wants_defaults()) return kAccepted;
    bool done = false;
    for (int group = 0; group < request_.event->groups && !done; ++group)
        if (((filled_ >> group) & 1) == 0) RETURN_IF_REFUSED(add_defaults_of(group, use, done));
    return kAccepted;
}

template <class Use>
Refusal MaskGroups::add_defaults_of(int group, Use&& use, bool& done) {
    if (excluded(group)) return kAccepted;
    if (excused_without_default(group)) return kAccepted;
    bool added = false;
    bool excused = false;
    bool all_omitted = rules_.omits;
    std::size_t index = 0;
    for (const MaskRow& mask : masks(*request_.event)) {
        const std::size_t position = index++;
        if (mask.group != group || !model_has(*request_.pmu, mask) || excluded(group)) continue;
        excused = excused || (mask.flags & mask_flag::grp_dfl_none) != 0;
        all_omitted = all_omitted && (mask.flags & mask_flag::omit) != 0;
        if ((mask.flags & mask_flag::dfl) == 0 || (mask.flags & mask_flag::grp_dfl_none) != 0) continue;
        added = true;
        out_.use_mask(position);
        use(mask);
        if ((request_.event->flags & event_flag::grp_excl) != 0 && rules_.exclusive_groups) {
            done = true;
            return kAccepted;
        }
        if ((mask.flags & mask_flag::excl_grp_gt) == 0) continue;
        if (limit_ != kNone) return {ErrorCode::umask, 0, 0, "two default unit masks exclude each other's groups"};
        limit_ = group;
    }
    if (added || excused || all_omitted) return kAccepted;
    return {ErrorCode::umask, request_.event_at, request_.event_length, "this event needs a unit mask"};
}

}  // namespace anyperf::catalog
