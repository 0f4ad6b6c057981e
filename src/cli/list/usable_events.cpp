// usable_events.cpp: see usable_events.h.
#include "cli/list/usable_events.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "events/glob.h"
#include "events/machine_data.h"

namespace anyperf::cli {

namespace {

using events::EventList;
using events::Listed;
using events::ListedEvent;
using host::Use;

/// perf list's words for kinds (perf-list(1)).
struct KindWord {
    std::string_view word;
    Listed kind;
};

constexpr std::array kKindWords{
    KindWord{"hw", Listed::hardware},
    KindWord{"hardware", Listed::hardware},
    KindWord{"sw", Listed::software},
    KindWord{"software", Listed::software},
    KindWord{"cache", Listed::cache},
    KindWord{"hwcache", Listed::cache},
    KindWord{"pmu", Listed::pmu},
    KindWord{"catalog", Listed::catalog},
    KindWord{"tracepoint", Listed::tracepoint},
    KindWord{"tracepoints", Listed::tracepoint},
};

std::string lower(std::string_view text) {
    std::string result{text};
    for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return result;
}

bool name_matches(const std::string& pattern, const std::string& name) {
    return events::is_glob(pattern) ? events::glob_matches(pattern, lower(name))
                                    : lower(name).find(pattern) != name.npos;
}

/// `pattern` in lower case.
bool matches(const std::string& pattern, const EventList& list, const ListedEvent& event) {
    const auto word = std::ranges::find(kKindWords, pattern, &KindWord::word);
    if (word != kKindWords.end()) return word->kind == list.kind;
    return name_matches(pattern, event.name) || (!event.alias.empty() && name_matches(pattern, event.alias));
}

/// What `stat -e NAME` would open, on this process or on the first CPU that it counts on.
Result<host::OpenCall> call_for(const events::Machine& machine, const std::string& name) {
    const auto groups = TRY(events::parse(machine, name));
    const events::Event& event = groups.front().events.front();
    host::OpenCall call;
    call.attr = event.attr;
    call.attr.flags |= abi::flag("disabled");
    if (event.cpu_wide_only) {
        call.pid = -1;
        call.cpu = event.cpus.empty() ? 0 : event.cpus.front();
    }
    return call;
}

/// Finds out, event by event, what is needed, and remembers what stands for a whole list.
class Prober {
  public:
    Prober(const events::Machine& machine, const host::Root& root) : machine_(machine), root_(root) {}

    UsableList look(const EventList& list, const std::vector<const ListedEvent*>& wanted) {
        UsableList result{list.kind, list.pmu, {}, {}, list.unreadable.value_or(Error{})};
        const bool one_by_one = list.kind == Listed::software ||
                                ((list.kind == Listed::hardware || list.kind == Listed::cache) && has_core_pmu());
        host::Usability usability = one_by_one ? host::Usability{} : of_any(list, wanted);
        for (const ListedEvent* event : wanted) {
            if (one_by_one) usability = of_any(list, {event});
            if (usability.use != Use::yes && !contains(result.reasons, usability.use))
                result.reasons.push_back(usability);
            result.events.push_back({*event, use_of(list, *event, usability.use)});
        }
        return result;
    }

  private:
    bool has_core_pmu() const { return !machine_.data().core_pmus().empty(); }

    static bool contains(const std::vector<host::Usability>& reasons, Use use) {
        return std::ranges::find(reasons, use, &host::Usability::use) != reasons.end();
    }

    /// One tracepoint is tried for all of its list, but in user mode alone only those of system calls happen.
    static Use use_of(const EventList& list, const ListedEvent& event, Use found) {
        const bool never = list.kind == Listed::tracepoint && found == Use::user_only &&
                           !abi::happens_in_user_mode(abi::kTypeTracepoint, 0, event.name);
        return never ? Use::needs_privilege : found;
    }

    /// That of the first event which can be encoded as it stands (others want a umask or a value), for all.
    host::Usability of_any(const EventList& list, const std::vector<const ListedEvent*>& wanted) const {
        if (list.kind == Listed::syntax) return {};
        if (list.foreign)
            return {Use::no_pmu,
                    {"cannot open an event of another CPU", list.pmu + " is no PMU of this machine's CPU", ""}};
        for (const ListedEvent* event : wanted)
            if (const auto call = call_for(machine_, event->name)) return host::usability(*call, event->name, root_);
        return {};
    }

    const events::Machine& machine_;
    const host::Root& root_;
};

}  // namespace

std::vector<UsableList> usable_events(const events::Machine& machine, const host::Root& root,
                                      std::span<const std::string> patterns, bool every_cpu) {
    std::vector<std::string> lowered;
    for (const std::string& pattern : patterns) lowered.push_back(lower(pattern));
    std::vector<UsableList> result;
    Prober prober{machine, root};
    for (const EventList& list : events::list_events(machine, every_cpu)) {
        std::vector<const ListedEvent*> wanted;
        for (const ListedEvent& event : list.events)
            if (lowered.empty() ||
                std::ranges::any_of(lowered, [&](const std::string& pattern) { return matches(pattern, list, event); }))
                wanted.push_back(&event);
        if (!wanted.empty() || (list.unreadable && lowered.empty())) result.push_back(prober.look(list, wanted));
    }
    return result;
}

}  // namespace anyperf::cli
