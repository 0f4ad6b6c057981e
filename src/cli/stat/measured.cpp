// measured.cpp: see measured.h.
#include "cli/stat/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "cli/stat/virtual_events.h"
#include "host/root.h"

namespace anyperf::cli::stat {

namespace {

using counting::Count;
using counting::CounterSet;

std::vector<const events::Event*> flat(const std::vector<events::EventGroup>& groups) {
    std::vector<const events::Event*> events;
    for (const auto& group : groups)
        for (const auto& event : group.events) events.push_back(&event);
    return events;
}

/// perf's habit: the modifier that was added for the user is part of the name.
std::string user_mode_name(const events::Event& event) {
    const bool has_modifiers = event.name.find(':') != std::string::npos && event.attr.type != abi::kTypeTracepoint &&
                               event.attr.type != abi::kTypeBreakpoint;
    return event.name + (has_modifiers || event.name.ends_with('/') ? "u" : ":u");
}

/// The clocks count nanoseconds; people read milliseconds, under perf too.
void give_clocks_a_unit(events::Event& event) {
    const bool is_clock = event.attr.type == abi::kTypeSoftware && event.attr.config <= 1;
    if (!is_clock || !event.unit.empty()) return;
    event.unit = "msec";
    event.scale = 1e-6;
}

counting::SetOptions set_options(const Plan& plan, const Options& options) {
    counting::SetOptions set;
    set.open.inherit = !options.no_inherit;
    set.open.start = plan.of_command && options.delay_ms == 0 ? counting::Start::on_exec : counting::Start::disabled;
    set.on_refusal = counting::OnRefusal::keep;
    set.fall_back_to_user = true;
    return set;
}

bool excludes_kernel(const events::Event& event) {
    return (event.attr.flags & abi::flag("exclude_kernel")) != 0;
}

bool denied(const counting::Refusal& refusal) {
    return refusal.errno_value == EACCES || refusal.errno_value == EPERM;
}

/// What the virtual PMU is to be asked for.
std::vector<events::EventGroup> in_user_mode(std::vector<events::EventGroup> groups) {
    for (auto& group : groups)
        for (auto& event : group.events) event = stat::in_user_mode(std::move(event));
    return groups;
}

/// Where permission is all that is missing, running the command for nothing helps nobody.
const Error* denied_altogether(const std::vector<CounterSet>& sets) {
    const Error* first = nullptr;
    for (const auto& set : sets) {
        for (std::size_t event = 0; event < set.events(); ++event) {
            const auto* refusal = set.refusal(event);
            if (refusal == nullptr || !denied(*refusal)) return nullptr;
            if (first == nullptr) first = &refusal->error;
        }
    }
    return first;
}

}  // namespace

Result<Measured> Measured::open(const Plan& plan, const Options& options, pid_t child) {
    Measured measured{plan, options};
    for (const auto& scope : plan.scopes) {
        counting::Target target = scope.target;
        if (plan.of_command) {
            target.kind = counting::Target::Kind::threads;
            target.ids = {child};
        }
        const auto& groups = options.in_user_space ? in_user_mode(scope.groups) : scope.groups;
        measured.sets_.push_back(TRY(CounterSet::open(groups, target, set_options(plan, options), options.kernel())));
    }
    if (const Error* denied = denied_altogether(measured.sets_)) {
        Error error = *denied;
        if (plan.of_command && !options.in_user_space && !options.who.kernel)
            error.fix += "; or count in user space, without a privilege: anyperf stat --virtual -- COMMAND";
        return std::unexpected(std::move(error));
    }
    return measured;
}

Result<void> Measured::enable() {
    for (auto& set : sets_)
        if (auto done = set.enable(); !done) return done;
    return {};
}

Result<void> Measured::disable() {
    for (auto& set : sets_)
        if (auto done = set.disable(); !done) return done;
    return {};
}

Result<Snapshot> Measured::read() {
    Snapshot snapshot;
    for (auto& set : sets_) {
        if (auto done = set.read(); !done) return std::unexpected(std::move(done).error());
        for (std::size_t place = 0; place < set.places().size(); ++place)
            for (std::size_t event = 0; event < set.events(); ++event) snapshot.push_back(set.count(event, place));
    }
    return snapshot;
}

std::vector<Line> Measured::lines(const Snapshot& before, const Snapshot& after) const {
    std::vector<Line> all;
    std::size_t start = 0;
    for (std::size_t scope = 0; scope < sets_.size(); ++scope) {
        const std::size_t cells = sets_[scope].places().size() * sets_[scope].events();
        const std::span now{after.data() + start, cells};
        std::ranges::move(
            scope_lines(scope, before.empty() ? std::span<const Count>{} : std::span{before.data() + start, cells},
                        now),
            std::back_inserter(all));
        start += cells;
    }
    return all;
}

std::vector<Line> Measured::scope_lines(std::size_t scope, std::span<const Count> before,
                                        std::span<const Count> after) const {
    const auto& set = sets_[scope];
    const auto events = flat(plan_->scopes[scope].groups);
    const bool apart = options_->per_cpu || options_->per_thread;
    std::vector<Line> lines;
    for (std::size_t number = 0; number < events.size(); ++number) {
        std::map<std::string, Count> by_place;
        std::vector<std::string> order;
        for (std::size_t place = 0; place < set.places().size(); ++place) {
            const std::size_t cell = place * events.size() + number;
            const Count count = before.empty() ? after[cell] : counting::since(before[cell], after[cell]);
            const std::string where = apart ? label(set.places()[place]) : "";
            const auto [entry, first] = by_place.try_emplace(where, count);
            if (first)
                order.push_back(where);
            else
                entry->second = entry->second + count;
        }
        for (const auto& where : order) {
            Line line;
            line.where = where;
            line.cgroup = plan_->scopes[scope].cgroup;
            line.event = *events[number];
            give_clocks_a_unit(line.event);
            line.refusal = refusal(scope, number, line.event);
            line.user_only = set.user_only(number) && !line.refusal;
            line.name = line.user_only ? user_mode_name(line.event) : line.event.name;
            if (options_->in_user_space) {
                line.modelled = modelled(line.event);
                line.user_only |= of_cpu(line.event) && !line.refusal && !excludes_kernel(line.event);
            }
            line.count = by_place.at(where);
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

std::optional<Error> Measured::refusal(std::size_t scope, std::size_t number, const events::Event& event) const {
    const auto* refused = sets_[scope].refusal(number);
    if (options_->in_user_space) return why_not(event, refused);
    return refused != nullptr ? std::optional{refused->error} : std::nullopt;
}

bool Measured::cpu_event_refused() const {
    for (std::size_t scope = 0; scope < sets_.size(); ++scope) {
        const auto events = flat(plan_->scopes[scope].groups);
        for (std::size_t number = 0; number < events.size(); ++number)
            if (of_cpu(*events[number]) && sets_[scope].refusal(number) != nullptr) return true;
    }
    return false;
}

std::string Measured::label(const counting::Place& place) const {
    if (options_->per_cpu && place.cpu >= 0) return fmt::format("CPU{}", place.cpu);
    if (place.pid <= 0) return {};
    const auto comm = host::Root{}.read(fmt::format("/proc/{}/comm", place.pid));
    return fmt::format("{}-{}", comm.value_or(""), place.pid);
}

/// Events that were typed with :u and can't happen there.
std::vector<std::string> always_zero(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& scope : plan.scopes)
        for (const auto* event : flat(scope.groups))
            if (excludes_kernel(*event) && !counting::happens_in_user_mode(*event)) names.push_back(event->name);
    return names;
}

std::vector<std::string> Measured::notes() const {
    std::vector<std::string> notes;
    if (const auto names = always_zero(*plan_); !names.empty())
        notes.push_back(fmt::format("{}: always 0, since it only happens in kernel mode: leave out the modifier u",
                                    fmt::join(names, ", ")));
    const auto any = [&](auto holds) { return std::ranges::any_of(sets_, holds); };
    if (any([](const CounterSet& set) { return !set.stable(); }))
        notes.emplace_back("the process made threads faster than they could be opened: a few may be missing");
    if (!options_->in_user_space && !plan_->of_command && cpu_event_refused())
        notes.emplace_back(
            "hardware events of what anyperf starts itself can be counted in user space: anyperf stat -- COMMAND");
    return notes;
}

}  // namespace anyperf::cli::stat
