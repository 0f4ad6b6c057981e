// mask_groups.h: the unit masks of an event stand in groups, and each group wants one. Which combinations are allowed,
// and which masks stand in for those not given: the same for the encoders of x86, its uncore boxes and AMD.
#pragma once

#include <array>
#include <cstdint>

#include "events/catalog/codes.h"

namespace anyperf::catalog {

/// The rules in which the families differ.
struct GroupRules {
    bool exclusive_groups = true;         ///< `grp_excl` is looked at
    bool defaults_for_exclusive = false;  ///< a `grp_excl` event with a mask still gets defaults
    bool refuses_above_limit = false;     ///< a mask in a group that `excl_grp_gt` or `excl_grp_but_0` excludes
    bool omits = false;                   ///< a group of `omit` masks may stay empty
};

class MaskGroups {
  public:
    MaskGroups(const Request& request, GroupRules rules, Codes& out) : request_(request), rules_(rules), out_(out) {}

    /// A mask of the string, in the string's order.
    Refusal give(const Given& given);
    /// A raw mask is all groups.
    void give_raw(std::uint64_t value) {
        raw_ = true;
        out_.raw_mask = value;
    }

    /// Masks for the groups without one; calls use(mask) for each.
    template <class Use>
    Refusal add_defaults(Use&& use);
    /// A mask was given where another one excludes it.
    Refusal check_limits() const;

  private:
    static constexpr std::size_t kMostGroups = 32;
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
    std::uint32_t uncombinable_ = 0;  ///< bit i: with one that is `ncombo`
    int last_ = kNone;
    int limit_ = kNone;        ///< no defaults in groups above it
    int given_limit_ = kNone;  ///< the same of a given mask: no given masks above it either
    int only_besides_0_ = kNone;
};

template <class Use>
Refusal MaskGroups::add_defaults(Use&& use) {
    if (!wants_defaults()) return kAccepted;
    bool done = false;
    for (int group = 0; group < request_.event->groups && !done; ++group)
        if (((filled_ >> group) & 1) == 0) REFUSE_IF_REFUSED(add_defaults_of(group, use, done));
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
        if (mask.group != group || !visible(*request_.pmu, mask) || excluded(group)) continue;
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
        if (limit_ != kNone) return {Code::umask, 0, 0, "two default unit masks exclude each other's groups"};
        limit_ = group;
    }
    if (added || excused || all_omitted) return kAccepted;
    return {Code::umask, request_.event_at, request_.event_length, "this event needs a unit mask"};
}

}  // namespace anyperf::catalog
