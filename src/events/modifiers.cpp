// modifiers.cpp: see modifiers.h. What each combination excludes is as perf's (compared with `perf stat -vv`): u, k, h
// exclude what is not named, and so do G and H; u and p exclude guests as well where neither G nor H came before.
#include "events/modifiers.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"

namespace anyperf::events {

namespace {

using abi::flag;

constexpr std::uint64_t kLevels = flag("exclude_user") | flag("exclude_kernel") | flag("exclude_hv");
constexpr std::uint64_t kHosts = flag("exclude_host") | flag("exclude_guest");
constexpr unsigned kPreciseShift = 15;
constexpr std::uint64_t kMostPrecise = 3;

void set(Modified& modified, std::uint64_t flags) {
    modified.event.attr.flags |= flags;
}

void let_in_level(Modified& modified, std::uint64_t level) {
    if (!modified.levels) set(modified, kLevels);
    modified.levels = true;
    modified.event.attr.flags &= ~level;
}

void let_in_host(Modified& modified, std::uint64_t host) {
    if (!modified.hosts) set(modified, kHosts);
    modified.hosts = true;
    modified.event.attr.flags &= ~host;
}

void exclude_guest_by_default(Modified& modified) {
    if (!modified.hosts) set(modified, flag("exclude_guest"));
}

void user(Modified& modified) {
    exclude_guest_by_default(modified);
    let_in_level(modified, flag("exclude_user"));
}

void precise(Modified& modified) {
    exclude_guest_by_default(modified);
    std::uint64_t& flags = modified.event.attr.flags;
    const std::uint64_t now = (flags & flag("precise_ip")) >> kPreciseShift;
    flags = (flags & ~flag("precise_ip")) | std::min(now + 1, kMostPrecise) << kPreciseShift;
}

void most_precise(Modified& modified) {
    set(modified, kMostPrecise << kPreciseShift);
    modified.event.precise_max = true;
}

constexpr std::array kRows{
    ModifierRow{'u', 1, "count user mode", user},
    ModifierRow{'k', 1, "count kernel mode", [](Modified& m) { let_in_level(m, flag("exclude_kernel")); }},
    ModifierRow{'h', 1, "count the hypervisor", [](Modified& m) { let_in_level(m, flag("exclude_hv")); }},
    ModifierRow{'I', 1, "do not count the idle task", [](Modified& m) { set(m, flag("exclude_idle")); }},
    ModifierRow{'G', 1, "count guests", [](Modified& m) { let_in_host(m, flag("exclude_guest")); }},
    ModifierRow{'H', 1, "count the host", [](Modified& m) { let_in_host(m, flag("exclude_host")); }},
    ModifierRow{'p', 3, "less skid: p constant, pp asked to be zero, ppp must be zero", precise},
    ModifierRow{'P', 1, "the least skid that the PMU offers", most_precise},
    ModifierRow{'S', 1, "samples carry the counts of the group", [](Modified& m) { m.event.sample_read = true; }},
    ModifierRow{'D', 1, "pinned: always on a counter, else in error", [](Modified& m) { set(m, flag("pinned")); }},
    ModifierRow{'e', 1, "exclusive: its group alone on the PMU", [](Modified& m) { set(m, flag("exclusive")); }},
    ModifierRow{'W', 1, "weak: the group is broken up where the PMU can't take it", [](Modified&) {}},
    ModifierRow{'b', 1, "share counters through BPF", [](Modified& m) { m.event.bpf_counter = true; }},
};

void apply_each(Modified modified, std::string_view letters) {
    for (const char letter : letters) std::ranges::find(kRows, letter, &ModifierRow::letter)->apply(modified);
}

}  // namespace

std::span<const ModifierRow> modifier_rows() {
    return kRows;
}

bool are_modifiers(std::string_view letters) {
    return !letters.empty() && std::ranges::all_of(letters, [&](char letter) {
        const auto row = std::ranges::find(kRows, letter, &ModifierRow::letter);
        return row != kRows.end() && std::ranges::count(letters, letter) <= row->most;
    });
}

void apply_modifiers(Event& event, std::string_view letters) {
    event.attr.flags &= ~(kLevels | kHosts);
    apply_each({event, false, false}, letters);
}

void apply_group_modifiers(Event& event, std::string_view letters, bool leads) {
    const bool levels = event.attr.flags & kLevels;
    const bool hosts = event.attr.flags & flag("exclude_host");
    apply_each({event, levels, hosts}, letters);
    if (!leads) event.attr.flags &= ~(flag("pinned") | flag("exclusive"));
}

}  // namespace anyperf::events
