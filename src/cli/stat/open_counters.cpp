// open_counters.cpp: opens the counters of a plan, and turns readings into lines. virtual_events.h has what differs for
// the virtual PMU: it changes events before they are opened, and gives refusals other words.
//
// From a plan to lines there are three steps:
// - A plan has scopes: one, or one for each cgroup. Each scope has its own CounterSet, with a counter for each event in
//   each place (a thread or a CPU). Events are numbered over all groups of a scope.
// - A reading is a Snapshot: the counts of all scopes in one vector. An interval is the difference of two snapshots.
// - A row (places/rows.h) says which places one line adds up: with -A each CPU has a row, with --per-socket each
//   socket, else all places are one row. An event has a line for each row.
#include "cli/stat/open_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "cli/stat/events/modifier_words.h"
#include "cli/stat/events/usage_counts.h"
#include "cli/stat/events/virtual_events.h"
#include "cli/stat/places/instances.h"
#include "cli/stat/places/task_time.h"
#include "events/syntax/modifiers.h"
#include "host/root.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

using counting::Count;
using counting::CounterSet;

/// The events of all groups in order, which is how CounterSet numbers them.
std::vector<const events::Event*> flat(const std::vector<events::EventGroup>& groups) {
    std::vector<const events::Event*> events;
    for (const auto& group : groups)
        for (const auto& event : group.events) events.push_back(&event);
    return events;
}

/// The number of the event set of -M (planned_metric.h) that contains event `number` of the scope; 0: an event of -e.
std::size_t metric_set_of(const Scope& scope, std::size_t number) {
    for (std::size_t group = 0; group < scope.groups.size(); ++group) {
        if (number < scope.groups[group].events.size()) return scope.metric_sets[group];
        number -= scope.groups[group].events.size();
    }
    return 0;
}

/// cpu-clock and task-clock (PERF_COUNT_SW_CPU_CLOCK 0, _TASK_CLOCK 1) count nanoseconds; perf shows milliseconds.
void set_clock_unit(events::Event& event) {
    const bool is_clock = event.attr.type == abi::kTypeSoftware && event.attr.config <= 1;
    if (!is_clock || !event.unit.empty()) return;
    event.unit = "msec";
    event.scale = 1e-6;
}

/// A command's events start at its exec, so that nothing of anyperf is counted. With -D the session enables them later.
counting::SetOptions set_options(const Plan& plan, const Options& options) {
    counting::SetOptions set;
    set.open.inherit = !options.no_inherit;
    set.open.start =
        plan.targets_command && options.delay_ms == 0 ? counting::Start::on_exec : counting::Start::disabled;
    set.on_refusal = counting::OnRefusal::keep;
    set.fall_back_to_user = true;
    return set;
}

bool excludes_kernel(const events::Event& event) {
    return (event.attr.flags & abi::flag("exclude_kernel")) != 0;
}

/// Whether the open was refused for lack of permission.
bool is_permission_error(const counting::Refusal& refusal) {
    return refusal.errno_value == EACCES || refusal.errno_value == EPERM;
}

/// All events, changed for the virtual PMU.
std::vector<events::EventGroup> for_virtual_pmu(std::vector<events::EventGroup> groups) {
    for (auto& group : groups)
        for (auto& event : group.events) event = stat::for_virtual_pmu(std::move(event));
    return groups;
}

/// Sorts lines by row. Before, they are sorted by event, with `rows` lines for each event.
void sort_by_row(std::vector<Line>& lines, std::size_t rows) {
    std::vector<Line> sorted;
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = row; i < lines.size(); i += rows) sorted.push_back(std::move(lines[i]));
    lines = std::move(sorted);
}

/// For each event the lines of the threads in which it happened, the highest count first. The other threads are left
/// out, since a machine has hundreds. Events keep their order. A refused event keeps one line.
std::vector<Line> busiest_first(std::vector<Line> lines) {
    std::vector<Line> kept;
    for (std::size_t start = 0; start < lines.size();) {
        std::size_t end = start;
        while (end < lines.size() && lines[end].name == lines[start].name &&
               lines[end].metric_set == lines[start].metric_set)
            ++end;
        const std::span event{lines.data() + start, end - start};
        std::ranges::stable_sort(event, std::greater{}, &Line::value);
        const bool refused = event.front().refusal.has_value();
        if (refused) event.front().where.clear();
        for (auto& line : refused ? event.first(1) : event)
            if (refused || line.count.value > 0) kept.push_back(std::move(line));
        start = end;
    }
    return kept;
}

/// The first refusal if every event was refused for lack of permission, otherwise null. The caller then does not run
/// the command, because nothing would be counted. An event whose count is in the command's resource usage is not lost,
/// so with such an event the result is null.
const Error* all_denied(const std::vector<CounterSet>& sets, const Plan& plan, const Options& options) {
    const Error* first = nullptr;
    for (std::size_t scope = 0; scope < sets.size(); ++scope) {
        const auto events = flat(plan.scopes[scope].groups);
        for (std::size_t event = 0; event < sets[scope].events(); ++event) {
            const auto* refusal = sets[scope].refusal(event);
            if (refusal == nullptr || !is_permission_error(*refusal)) return nullptr;
            if (is_in_usage(*events[event], plan, options)) return nullptr;
            if (first == nullptr) first = &refusal->error;
        }
    }
    return first;
}

/// Sets the filters of a scope's tracepoints.
Result<void> set_filters(CounterSet& set, const Scope& scope) {
    std::size_t number = 0;
    for (std::size_t group = 0; group < scope.groups.size(); ++group) {
        for (const auto& event : scope.groups[group].events) {
            const std::string& filter = scope.filters[group];
            auto done = filter.empty() ? Result<void>{} : set.set_filter(number, filter);
            ++number;
            if (!done) return std::unexpected(filter_refusal(event, filter, done.error().cause));
        }
    }
    return {};
}

}  // namespace

// Each scope has a CounterSet of its own, so the events of each cgroup are opened and numbered separately.
Result<OpenCounters> OpenCounters::open(const Plan& plan, const Options& options, pid_t child) {
    OpenCounters opened{plan, options};
    for (const auto& scope : plan.scopes) {
        counting::Target target = scope.target;
        if (plan.targets_command) {  // the plan was made before the command had a pid
            target.kind = counting::Target::Kind::threads;
            target.ids = {child};
        }
        if (options.all_threads()) target.ids = all_threads(host::Root{});
        const auto& groups = options.in_user_space ? for_virtual_pmu(scope.groups) : scope.groups;
        opened.sets_.push_back(TRY(CounterSet::open(groups, target, set_options(plan, options), options.kernel())));
        TRY(set_filters(opened.sets_.back(), scope));
        opened.rows_.push_back(TRY(rows_of(opened.sets_.back().places(), options, host::Root{})));
    }
    if (const Error* denied = all_denied(opened.sets_, plan, options)) {
        Error error = *denied;
        if (plan.targets_command && !options.in_user_space && !options.backend.kernel)
            error.fix += "; or count in user space, without privileges: anyperf stat --virtual -- COMMAND";
        return std::unexpected(std::move(error));
    }
    return opened;
}

Result<void> OpenCounters::enable() {
    for (auto& set : sets_)
        if (auto done = set.enable(); !done) return done;
    return {};
}

Result<void> OpenCounters::disable() {
    for (auto& set : sets_)
        if (auto done = set.disable(); !done) return done;
    return {};
}

// An event may be in several scopes (cgroups), and is switched in each of them.
Result<bool> OpenCounters::switch_events(const std::string& name, bool on) {
    if (name.empty()) {
        TRY(on ? enable() : disable());
        return true;
    }
    bool known = false;
    for (std::size_t scope = 0; scope < sets_.size(); ++scope) {
        const auto events = flat(plan_->scopes[scope].groups);
        for (std::size_t number = 0; number < events.size(); ++number) {
            if (events[number]->name != name) continue;
            known = true;
            TRY(on ? sets_[scope].enable(number) : sets_[scope].disable(number));
        }
    }
    return known;
}

std::string OpenCounters::event_names() const {
    std::string names;
    for (const auto& scope : plan_->scopes)
        for (const auto* event : flat(scope.groups)) names += event->name + "\n";
    return names;
}

// The order is scope by scope, place by place, event by event. scope_lines() relies on it.
Result<Snapshot> OpenCounters::read() {
    Snapshot snapshot;
    for (auto& set : sets_) {
        if (auto done = set.read(); !done) return std::unexpected(std::move(done).error());
        for (std::size_t place = 0; place < set.places().size(); ++place)
            for (std::size_t event = 0; event < set.events(); ++event) snapshot.push_back(set.count(event, place));
    }
    return snapshot;
}

// The growth from `before` to `after`, or the counts since the start if `before` is empty. Intervals are differences
// because a reset after each read would lose what was counted between the read and the reset.
std::vector<Line> OpenCounters::lines(const Snapshot& before, const Snapshot& after) const {
    std::vector<Line> all;
    std::size_t start = 0;  // of the scope's counts in both snapshots
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

/// Whether the kernel counts the event while the run counts the others. Its count includes what the engine does.
bool OpenCounters::is_counted_by_kernel(const events::Event& event) const {
    return options_->in_user_space && event.attr.type == abi::kTypeTracepoint &&
           options_->kernel().is_apart(stat::for_virtual_pmu(event).attr);
}

/// The line of an event, without its place and count.
Line OpenCounters::line_of(std::size_t scope, std::size_t number, const events::Event& event) const {
    Line line;
    line.cgroup = plan_->scopes[scope].cgroup;
    line.event = event;
    line.metric_set = metric_set_of(plan_->scopes[scope], number);
    set_clock_unit(line.event);
    line.refusal = refusal(scope, number, line.event);
    line.user_only = sets_[scope].user_only(number) && !line.refusal;
    line.name = line.user_only ? events::user_mode_name(line.event) : line.event.name;
    if (options_->in_user_space) {  // the virtual PMU sees user mode only, even if the event names no mode
        line.modelled = is_modelled(line.event, options_->backend.machine.deterministic);
        if (uses_models(line.event)) line.machine = options_->modelled_machine;
        line.with_own_share = !line.modelled && (has_own_share(line.event) || is_counted_by_kernel(line.event));
        line.user_only |= is_cpu_event(line.event) && !line.refusal && !excludes_kernel(line.event);
    }
    return line;
}

/// The counts of one event in each place of a scope, from `before`, if there is one, to `after`.
std::vector<Count> OpenCounters::place_counts(std::size_t scope, std::size_t number, std::span<const Count> before,
                                              std::span<const Count> after) const {
    const auto places = sets_[scope].places();
    std::vector<Count> counts;
    counts.reserve(places.size());
    for (std::size_t place = 0; place < places.size(); ++place) {
        // The same order as in read(): within a scope the places, within a place the events.
        const std::size_t cell = place * sets_[scope].events() + number;
        counts.push_back(before.empty() ? after[cell] : counting::since(before[cell], after[cell]));
    }
    divide_enabled_time(places, counts);
    return counts;
}

/// One line for each event and row. As in perf, the lines are sorted by row if a row is a core, die, socket or node.
/// Otherwise (CPUs, threads) they are sorted by event.
std::vector<Line> OpenCounters::scope_lines(std::size_t scope, std::span<const Count> before,
                                            std::span<const Count> after) const {
    const auto events = flat(plan_->scopes[scope].groups);
    const auto& rows = rows_[scope];
    std::vector<Line> lines;
    for (std::size_t number = 0; number < events.size(); ++number) {
        const Line line = line_of(scope, number, *events[number]);
        const auto counts = place_counts(scope, number, before, after);
        for (const auto& row : rows) {
            lines.push_back(line);
            lines.back().where = current_label(row, host::Root{});
            lines.back().cpus = row.cpus;
            lines.back().count = Count{};
            bool first = true;
            for (const std::size_t place : row.places) {
                const Count& count = counts[place];
                lines.back().count = std::exchange(first, false) ? count : lines.back().count + count;
            }
        }
    }
    if (options_->cpu_level) sort_by_row(lines, rows.size());
    if (options_->all_threads()) lines = busiest_first(std::move(lines));
    return options_->no_merge ? lines : merged_instances(std::move(lines));
}

/// Why event `number` of a scope is not counted; nullopt if it is counted. In a run the reason comes from the virtual
/// PMU, because the machine's settings do not decide what a run counts.
std::optional<Error> OpenCounters::refusal(std::size_t scope, std::size_t number, const events::Event& event) const {
    const auto* refused = sets_[scope].refusal(number);
    if (options_->in_user_space && !is_counted_by_kernel(event)) return why_not_counted(event, refused);
    if (refused == nullptr) return std::nullopt;
    Error error = in_words_of_modifiers(refused->error);
    if (is_permission_error(*refused) && event.attr.type == abi::kTypeSoftware && plan_->targets_command)
        error.fix += "; or without a privilege, in user space: anyperf stat --virtual";
    return error;
}

bool OpenCounters::cpu_event_refused() const {
    for (std::size_t scope = 0; scope < sets_.size(); ++scope) {
        const auto events = flat(plan_->scopes[scope].groups);
        for (std::size_t number = 0; number < events.size(); ++number)
            if (is_cpu_event(*events[number]) && sets_[scope].refusal(number) != nullptr) return true;
    }
    return false;
}

/// The names, once each, of the events that exclude kernel mode (modifier u) but happen only there.
static std::vector<std::string> always_zero(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& scope : plan.scopes)
        for (const auto* event : flat(scope.groups))
            if (excludes_kernel(*event) && !counting::happens_in_user_mode(*event) &&
                std::ranges::find(names, event->name) == names.end())
                names.push_back(event->name);
    return names;
}

std::vector<std::string> OpenCounters::notes() const {
    std::vector<std::string> notes = plan_->notes;
    if (options_->no_events && (!options_->events.empty() || options_->detail > 0))
        notes.push_back(fmt::format("-n counts no events: {} is ignored", options_->events.empty() ? "-d" : "-e"));
    // The kernel accepts context-switches:u, but counts nothing; a user might take that 0 for a result.
    if (const auto names = always_zero(*plan_); !names.empty())
        notes.push_back(fmt::format("{}: always 0, since it only happens in kernel mode: leave out the modifier u",
                                    fmt::join(names, ", ")));
    const auto any = [&](auto holds) { return std::ranges::any_of(sets_, holds); };
    if (any([](const CounterSet& set) { return !set.stable(); }))
        notes.emplace_back(
            "the process created threads faster than events could be opened on them: a few may be missing");
    if (!options_->in_user_space && !plan_->targets_command && cpu_event_refused())
        notes.emplace_back(
            "hardware events of a command that anyperf starts can be counted in user space: anyperf stat -- COMMAND");
    return notes;
}

}  // namespace anyperf::cli::stat
