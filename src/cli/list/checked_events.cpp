// checked_events.cpp: matches patterns and checks the matching events, a list at a time.
#include "cli/list/checked_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "abi/event_ids.h"
#include "cli/command/event_call.h"
#include "cli/stat/events/virtual_events.h"
#include "events/machine/machine_data.h"
#include "events/syntax/glob.h"
#include "host/hardware/cpu_counters.h"
#include "host/kernel/tracefs.h"

namespace anyperf::cli {

namespace {

using events::EventList;
using events::ListedEvent;
using events::NameOrigin;
using host::Use;

/// perf list's words for kinds (perf-list(1)), and `catalog` for the vendors' names.
struct KindWord {
    std::string_view word;
    NameOrigin kind;
};

constexpr std::array kKindWords{
    KindWord{"hw", NameOrigin::hardware},
    KindWord{"hardware", NameOrigin::hardware},
    KindWord{"sw", NameOrigin::software},
    KindWord{"software", NameOrigin::software},
    KindWord{"cache", NameOrigin::cache},
    KindWord{"hwcache", NameOrigin::cache},
    KindWord{"pmu", NameOrigin::pmu},
    KindWord{"catalog", NameOrigin::catalog},
    KindWord{"vendor", NameOrigin::vendor},
    KindWord{"tracepoint", NameOrigin::tracepoint},
    KindWord{"tracepoints", NameOrigin::tracepoint},
};

/// Names are ASCII.
std::string lower(std::string_view text) {
    std::string result{text};
    for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return result;
}

/// `pattern` must be in lower case.
bool name_matches(const std::string& pattern, const std::string& name) {
    return events::is_glob(pattern) ? events::glob_matches(pattern, lower(name))
                                    : lower(name).find(pattern) != name.npos;
}

/// A pattern in lower case. A word for a kind matches the events of this kind and nothing else, even if a name contains
/// it. The catalog's events of this CPU are listed without the prefix of their PMU. `may_name_pmu`: the pattern may
/// have that prefix.
struct Pattern {
    const std::string& text;
    bool may_name_pmu;

    bool matches(const EventList& list, const ListedEvent& event) const {
        const auto word = std::ranges::find(kKindWords, text, &KindWord::word);
        if (word != kKindWords.end()) return word->kind == list.kind;
        if (may_name_pmu && list.kind == NameOrigin::catalog && name_matches(text, list.pmu + "::" + event.name))
            return true;
        return name_matches(text, event.name) || (!event.alias.empty() && name_matches(text, event.alias));
    }
};

/// Checks the events of a list. Opening an event takes a system call, and a machine has thousands of names. So an event
/// is opened for each name only where the answers differ within a list (software events, hardware events of a core PMU,
/// and the names of the CPU in a run). In all other lists one event represents all: without a PMU none of its events
/// can be opened, and the right to open one tracepoint is that for all.
class UsabilityChecker {
  public:
    UsabilityChecker(const events::Machine& machine, const host::Root& root)
        : machine_(machine),
          root_(root),
          names_(events::EventNames::read(root.path("/"))),
          has_virtual_pmu_(host::is_x86(root)),
          machine_of_run_(stat::modelled_machine_of_run(root)) {}

    CheckedList check(const EventList& list, const std::vector<const ListedEvent*>& wanted) {
        CheckedList result{list.kind, list.pmu, {}, {}, list.unreadable.value_or(Error{})};
        // In a run the names of the catalog and of perf are those of the CPU that programs see. The virtual PMU counts
        // only some of them, while a CPU's PMU accepts every code.
        const bool of_cpu = list.kind == NameOrigin::catalog || list.kind == NameOrigin::vendor;
        const bool of_virtual_cpu = of_cpu && !list.foreign && !machine_of_run_.empty();
        const bool one_by_one =
            list.kind == NameOrigin::software || of_virtual_cpu ||
            ((list.kind == NameOrigin::hardware || list.kind == NameOrigin::cache) && has_core_pmu());
        host::Usability usability = one_by_one ? host::Usability{} : usability_of_first(list, wanted);
        for (const ListedEvent* event : wanted) {
            if (of_virtual_cpu && !virtual_pmu_counts(list, *event)) {
                add_reason(result, unsupported_in_run(event->name));
                result.events.push_back({*event, Use::unsupported, false, {}});
                continue;
            }
            if (one_by_one) usability = usability_of_first(list, {event});
            const bool in_user_space = !kernel_counts(list.kind, usability.use) && virtual_pmu_counts(list, *event);
            add_reason(result, in_user_space ? user_space(list, event->name, usability.use) : usability);
            result.events.push_back(
                {*event, in_user_space ? Use::user_space : use_of(list, *event, usability.use), false, {}});
            if (in_user_space || usability.use == Use::yes) name_model(list, result.events.back());
        }
        return result;
    }

  private:
    /// Sets `modelled` and `machine` of an event that can be counted here. An event of the catalog is modelled if every
    /// count that its unit masks name is.
    void name_model(const EventList& list, CheckedEvent& checked) const {
        if (list.foreign || (has_core_pmu() && machine_of_run_.empty())) return;
        bool counted = false;
        bool uses_models = false;
        for (const std::string& name : spellings_of(list, checked.event)) {
            const auto groups = events::parse(machine_, name);
            if (!groups || !counts(list, groups->front().events.front())) continue;
            const events::Event& event = groups->front().events.front();
            if (!stat::is_modelled(event, false)) return;
            counted = true;
            uses_models = uses_models || stat::uses_models(event);
        }
        checked.modelled = counted;
        if (uses_models) checked.machine = machine_of_run_;
    }

    static host::Usability unsupported_in_run(const std::string& event) {
        return {
            Use::unsupported,
            {"cannot count " + event,
             "the virtual PMU of this run counts what happens in user mode, system calls, and what its models compute",
             "use an event that is usable"}};
    }

    bool has_core_pmu() const { return !machine_.data().core_pmus().empty(); }

    static void add_reason(CheckedList& list, host::Usability usability) {
        const bool known = std::ranges::find(list.reasons, usability.use, &host::Usability::use) != list.reasons.end();
        if (usability.use != Use::yes && !known) list.reasons.push_back(std::move(usability));
    }

    /// Whether `stat` lets the kernel count events with this use (why_kernel_cannot_count() in
    /// cli/command/backend.cpp). If not, it counts in user space.
    static bool kernel_counts(NameOrigin kind, Use use) {
        if (kind == NameOrigin::software) return use != Use::blocked;
        return use != Use::no_pmu && use != Use::blocked && use != Use::needs_privilege;
    }

    /// The usability of an event that the virtual PMU counts. `kernel` says why the kernel does not. Only the kernel's
    /// names are those of other tools, too.
    static host::Usability user_space(const EventList& list, const std::string& event, Use kernel) {
        const bool of_kernel = list.kind == NameOrigin::hardware || list.kind == NameOrigin::cache;
        const std::string other_tools =
            of_kernel ? fmt::format("; for other tools: anyperf run -- perf stat -e {} COMMAND", event) : "";
        return {Use::user_space,
                {"cannot count " + event + " with the kernel",
                 fmt::format("the kernel does not count it here ({}); anyperf counts it for a command that it starts, "
                             "in user mode and without a privilege",
                             words(kernel)),
                 fmt::format("anyperf stat -e {} -- COMMAND{}", event, other_tools)}};
    }

    /// The name alone, and with each of its unit masks: some events of the catalog need one.
    static std::vector<std::string> spellings_of(const EventList& list, const ListedEvent& listed) {
        std::vector<std::string> spellings{listed.name};
        std::istringstream masks{list.kind == NameOrigin::catalog ? listed.detail : ""};
        for (std::string mask; masks >> mask;) spellings.push_back(listed.name + mask);
        return spellings;
    }

    /// Whether the virtual PMU counts the event, by its name alone or with one of its unit masks.
    bool virtual_pmu_counts(const EventList& list, const ListedEvent& listed) const {
        if (!has_virtual_pmu_ || list.foreign) return false;
        return std::ranges::any_of(spellings_of(list, listed), [&](const std::string& name) {
            const auto groups = events::parse(machine_, name);
            return groups && counts(list, groups->front().events.front());
        });
    }

    /// Whether the virtual PMU counts what a name of the list has become.
    bool counts(const EventList& list, const events::Event& event) const {
        // The name of a catalog event such as L1D, typed alone, means one of the kernel's cache events.
        if (list.kind == NameOrigin::catalog && event.attr.type == abi::kTypeHwCache) return false;
        return stat::is_counted_in_user_space(event, names_);
    }

    /// Corrects the result that a whole list of tracepoints shares: in user mode only those of system calls and
    /// uprobes happen, so the modifier u makes no other tracepoint useful.
    Use use_of(const EventList& list, const ListedEvent& event, Use found) const {
        abi::Attr attr{};
        attr.type = abi::kTypeTracepoint;
        const bool never = list.kind == NameOrigin::tracepoint && found == Use::user_only &&
                           !host::happens_in_user_mode(attr, event.name, root_);
        return never ? Use::needs_privilege : found;
    }

    /// The usability of the first event that can be encoded, by its name or with a unit mask; others need a value. The
    /// caller takes it for all of `wanted`.
    host::Usability usability_of_first(const EventList& list, const std::vector<const ListedEvent*>& wanted) const {
        if (list.kind == NameOrigin::syntax) return {};
        if (list.foreign)
            return {Use::no_pmu,
                    {"cannot open an event of another CPU", list.pmu + " is not a PMU of this machine's CPU", ""}};
        for (const ListedEvent* event : wanted)
            for (const std::string& name : spellings_of(list, *event))
                if (const auto groups = events::parse(machine_, name))
                    return host::usability(call_of(groups->front().events.front()), name, root_);
        return {};
    }

    const events::Machine& machine_;
    const host::Root& root_;
    events::EventNames names_;  ///< of that machine
    bool has_virtual_pmu_;
    std::string machine_of_run_;  ///< the modelled machine; empty outside of a run
};

}  // namespace

bool asks_for_tracepoints(std::string_view pattern) {
    const auto word = std::ranges::find(kKindWords, lower(pattern), &KindWord::word);
    if (word != kKindWords.end()) return word->kind == NameOrigin::tracepoint;
    return pattern.find(':') != pattern.npos && pattern.find("::") == pattern.npos;
}

std::vector<CheckedList> check_events(const events::Machine& machine, const host::Root& root,
                                      std::span<const std::string> patterns, bool every_cpu) {
    std::vector<std::string> lowered;
    for (const std::string& pattern : patterns) lowered.push_back(lower(pattern));
    std::vector<CheckedList> result;
    UsabilityChecker checker{machine, root};
    for (const EventList& list : events::list_events(machine, every_cpu)) {
        std::vector<const ListedEvent*> wanted;
        for (const ListedEvent& event : list.events)
            if (lowered.empty() || std::ranges::any_of(lowered, [&](const std::string& pattern) {
                    return Pattern{pattern, every_cpu || pattern.find("::") != pattern.npos}.matches(list, event);
                }))
                wanted.push_back(&event);
        if (!wanted.empty() || (list.unreadable && lowered.empty())) result.push_back(checker.check(list, wanted));
    }
    return result;
}

}  // namespace anyperf::cli
