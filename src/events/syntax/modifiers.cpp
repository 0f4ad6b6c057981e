// modifiers.cpp: what each combination excludes is the same as in perf (compared with `perf stat -vv`).
//
// A letter says what to count, and the attr has bits for what not to count. So the first level letter (u, k, h)
// excludes all three levels, and it and each further one include their own again; the same holds for G and H. Without
// any letter nothing is excluded but guests. `ModifierTarget` remembers whether a letter of either kind has been seen.
#include "events/syntax/modifiers.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"

namespace anyperf::events {

namespace {

using abi::flag;

constexpr std::uint64_t kLevels = flag("exclude_user") | flag("exclude_kernel") | flag("exclude_hv");
constexpr std::uint64_t kHosts = flag("exclude_host") | flag("exclude_guest");
constexpr unsigned kPreciseShift = 15;
constexpr std::uint64_t kMaxPrecise = 3;

void set(ModifierTarget& modified, std::uint64_t flags) {
    modified.event.attr.flags |= flags;
}

/// The first level modifier excludes all levels; each includes its own again.
void include_level(ModifierTarget& modified, std::uint64_t level) {
    if (!modified.levels) set(modified, kLevels);
    modified.levels = true;
    modified.event.attr.flags &= ~level;
}

void include_host(ModifierTarget& modified, std::uint64_t host) {
    if (!modified.hosts) set(modified, kHosts);
    modified.hosts = true;
    modified.event.attr.flags &= ~host;
}

/// In perf u and p exclude guests unless G or H came before (get_event_modifier() in tools/perf/util/parse-events.c).
/// They set the bit because apply_modifiers() has cleared the default.
void exclude_guest_by_default(ModifierTarget& modified) {
    if (!modified.hosts) set(modified, flag("exclude_guest"));
}

void user(ModifierTarget& modified) {
    exclude_guest_by_default(modified);
    include_level(modified, flag("exclude_user"));
}

/// Each p adds one to precise_ip, which has two bits.
void precise(ModifierTarget& modified) {
    exclude_guest_by_default(modified);
    std::uint64_t& flags = modified.event.attr.flags;
    const std::uint64_t now = (flags & flag("precise_ip")) >> kPreciseShift;
    flags = (flags & ~flag("precise_ip")) | std::min(now + 1, kMaxPrecise) << kPreciseShift;
}

/// P: starts at the highest value; limit_precision() in resolve.cpp lowers it.
void most_precise(ModifierTarget& modified) {
    set(modified, kMaxPrecise << kPreciseShift);
    modified.event.precise_max = true;
}

constexpr std::array kRows{
    ModifierRow{'u', 1, "count user mode", user},
    ModifierRow{'k', 1, "count kernel mode", [](ModifierTarget& m) { include_level(m, flag("exclude_kernel")); }},
    ModifierRow{'h', 1, "count the hypervisor", [](ModifierTarget& m) { include_level(m, flag("exclude_hv")); }},
    ModifierRow{'I', 1, "do not count the idle task", [](ModifierTarget& m) { set(m, flag("exclude_idle")); }},
    ModifierRow{'G', 1, "count guests", [](ModifierTarget& m) { include_host(m, flag("exclude_guest")); }},
    ModifierRow{'H', 1, "count the host", [](ModifierTarget& m) { include_host(m, flag("exclude_host")); }},
    ModifierRow{'p', 3, "less skid: p constant, pp requested to be zero, ppp must be zero", precise},
    ModifierRow{'P', 1, "the least skid that the PMU offers", most_precise},
    ModifierRow{'S', 1, "samples carry the counts of the group", [](ModifierTarget& m) { m.event.sample_read = true; }},
    ModifierRow{'D', 1, "pinned: always on a counter, else in error",
                [](ModifierTarget& m) { set(m, flag("pinned")); }},
    ModifierRow{'e', 1, "exclusive: its group is alone on the PMU",
                [](ModifierTarget& m) { set(m, flag("exclusive")); }},
    ModifierRow{'W', 1, "weak: the group is broken up if the PMU can't take it", [](ModifierTarget&) {}},
    ModifierRow{'b', 1, "share counters through BPF", [](ModifierTarget& m) { m.event.bpf_counter = true; }},
};

void apply_each(ModifierTarget modified, std::string_view letters) {
    for (const char letter : letters) std::ranges::find(kRows, letter, &ModifierRow::letter)->apply(modified);
}

bool is_letter(char letter) {
    return std::ranges::find(kRows, letter, &ModifierRow::letter) != kRows.end();
}

/// The end of the name after its last colon, or after the slash that ends a PMU's terms; null if there is neither, or
/// if it is not modifiers. The end of INST_RETIRED:ANY_P is a unit mask.
const char* modifiers_in(const Event& event) {
    if (event.attr.type == abi::kTypeTracepoint || event.attr.type == abi::kTypeBreakpoint) return nullptr;
    const auto at = event.name.find_last_of(":/");
    if (at == std::string::npos) return nullptr;
    const char* const end = event.name.c_str() + at + 1;
    return std::ranges::all_of(std::string_view{end}, is_letter) ? end : nullptr;
}

std::string_view own_modifiers(const Event& event) {
    const char* const letters = modifiers_in(event);
    return letters != nullptr ? letters : "";
}

}  // namespace

std::span<const ModifierRow> modifier_rows() {
    return kRows;
}

bool are_modifiers(std::string_view letters) {
    return !letters.empty() && std::ranges::all_of(letters, [&](char letter) {
        const auto row = std::ranges::find(kRows, letter, &ModifierRow::letter);
        return row != kRows.end() && std::ranges::count(letters, letter) <= row->max_repeats;
    });
}

std::string user_mode_name(const Event& event) {
    return event.name + (modifiers_in(event) != nullptr ? "u" : ":u");
}

void apply_modifiers(Event& event, std::string_view letters) {
    event.attr.flags &= ~(kLevels | kHosts);
    apply_each({event, false, false}, letters);
}

// The letters after a group add to those of each member: {cycles:u,instructions}:k counts cycles in both modes.
void apply_group_modifiers(Event& event, std::string_view letters, bool leads) {
    // The event had modifiers of its own if it excludes a level, or the host: the defaults exclude guests only. GH
    // excludes nothing, and can only be seen in its name.
    const bool levels = event.attr.flags & kLevels;
    const bool hosts = (event.attr.flags & flag("exclude_host")) != 0 || own_modifiers(event).contains('G');
    apply_each({event, levels, hosts}, letters);
    if (!leads) event.attr.flags &= ~(flag("pinned") | flag("exclusive"));
}

}  // namespace anyperf::events
