// set_opener.cpp: the hard part is a process that creates threads while it is opened. With `inherit` a new thread
// inherits the events of the thread that created it if those were open by then, and none otherwise; nothing shows
// which.
//
// Opening the new threads, too, would count some twice. So all threads are opened, and listed before and after. If the
// lists agree, every thread was opened once and none of them inherited. If not, everything is closed, which removes
// inherited events as well, and opened again. A process that creates threads all the time is left as it is after
// kMaxRounds rounds: the creating threads were open by then, so what they created recently is counted.
//
// Without `inherit` new threads are simply opened, too, until there are none.
#include "counting/set_opener.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "counting/open_event.h"
#include "host/kernel/tracefs.h"
#include "try.h"

namespace anyperf::counting {

namespace {

/// How often a process is listed and opened before it is left as it is.
constexpr int kMaxRounds = 16;

/// Errnos that concern one event: the others can still be counted. Errnos such as EMFILE concern every event.
constexpr std::array kEventRefused{ENOENT, ENXIO,  EOPNOTSUPP, EINVAL, ENOSYS,   EACCES,
                                   EPERM,  ENODEV, ENOSPC,     EBUSY,  EOVERFLOW};

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

bool is_about_the_event(int errno_value) {
    return contains(kEventRefused, errno_value);
}

/// Counted by the PMU of the cores.
bool is_core_event(const events::Event& event) {
    return contains(std::array{abi::kTypeHardware, abi::kTypeHwCache, abi::kTypeRaw}, event.attr.type);
}

Error cannot_open_cgroup(const std::string& path, int errno_value) {
    const bool no_descriptor = errno_value == EMFILE || errno_value == ENFILE;
    return {"cannot count the cgroup " + path,
            errno_value == ENOENT ? "there is no such directory"
                                  : "its directory can't be opened: " + std::generic_category().message(errno_value),
            no_descriptor ? "raise the limit on open descriptors (ulimit -n)"
                          : "give a directory of a mounted cgroup hierarchy (see `cat /proc/self/cgroup`)"};
}

/// Whether every element of `others` is in `known`. Both are sorted.
bool includes(std::span<const pid_t> known, std::span<const pid_t> others) {
    return std::ranges::includes(known, others);
}

}  // namespace

bool happens_in_user_mode(const events::Event& event) {
    return host::happens_in_user_mode(event.attr, event.name, host::Root{});
}

// An event that something else counts than the others (Kernel::is_apart()), such as a tracepoint beside virtual events,
// becomes a group of its own. `events_` keeps the order of the caller, whatever happens to the groups.
SetOpener::SetOpener(std::span<const events::EventGroup> groups, const Target& target, const SetOptions& options,
                     Kernel& kernel)
    : target_(target), options_(options), kernel_(kernel) {
    for (const auto& group : groups) {
        std::vector<std::size_t> members;
        for (const auto& event : group.events) {
            if (kernel.is_apart(event.attr))
                add_group({events_.size()}, false);
            else
                members.push_back(events_.size());
            events_.push_back(event);
        }
        add_group(std::move(members), group.weak);
    }
    set_.refusals_.resize(events_.size());
    set_.user_only_.resize(events_.size());
}

void SetOpener::add_group(std::vector<std::size_t> members, bool weak) {
    groups_.push_back(std::move(members));
    weak_.push_back(weak);
}

Result<CounterSet> SetOpener::open() {
    Progress progress = Progress::again;
    while (progress == Progress::again) {  // each round gives up or restricts one more event, so this ends
        close_opened();
        progress = TRY(open_target());
    }
    // Everything was gone before anything was open: the message names the first thread or process of the target.
    if (progress == Progress::vanished && !events_.empty())
        return std::unexpected(no_such_task(target_.ids.empty() ? 0 : target_.ids.front()));
    set_.counts_.resize(set_.places_.size() * events_.size());
    set_.reading_.resize(events_.size());
    return std::move(set_);
}

void SetOpener::close_opened() {
    set_.groups_.clear();
    set_.places_.clear();
}

// Tasks may have events that cannot be bound to a task (uncore), so open_uncore() follows. For CPUs and cgroups these
// are opened in open_cpus() with the others.
Result<SetOpener::Progress> SetOpener::open_target() {
    Progress progress = Progress::done;
    switch (target_.kind) {
        case Target::Kind::self: progress = TRY(open_tasks(std::array<pid_t, 1>{0})); break;
        case Target::Kind::threads: progress = TRY(open_tasks(target_.ids)); break;
        case Target::Kind::processes: progress = TRY(open_processes()); break;
        case Target::Kind::cgroup: return open_cgroup();
        case Target::Kind::cpus:
        case Target::Kind::system: return open_cpus(-1, false, wanted_cpus());
    }
    return progress == Progress::done ? open_uncore() : progress;
}

// A thread that ends before its open is left out (Progress::vanished of one place); the rest is opened. Only if none is
// left has the target vanished. `target_.cpus` limits tasks to some CPUs, which takes an event for each of them.
Result<SetOpener::Progress> SetOpener::open_tasks(std::span<const pid_t> tids) {
    static constexpr std::array kAnyCpu{-1};
    const std::span<const int> cpus = target_.cpus.empty() ? std::span<const int>{kAnyCpu} : target_.cpus;
    for (const pid_t tid : tids) {
        for (const int cpu : cpus) {
            const auto progress = TRY(open_place({.pid = tid, .cpu = cpu}));
            if (progress == Progress::again) return progress;
        }
    }
    return set_.places_.empty() && !tids.empty() ? Progress::vanished : Progress::done;
}

std::vector<pid_t> SetOpener::threads_of_processes() const {
    std::vector<pid_t> tids;
    for (const pid_t process : target_.ids) std::ranges::copy(kernel_.threads_of(process), std::back_inserter(tids));
    std::ranges::sort(tids);
    tids.erase(std::ranges::unique(tids).begin(), tids.end());
    return tids;
}

// The essay at the head of the file is about this loop. A process of the target that does not exist at the start is an
// error; one that ends later is not.
Result<SetOpener::Progress> SetOpener::open_processes() {
    for (const pid_t process : target_.ids)
        if (kernel_.threads_of(process).empty())
            return events_.empty() ? Progress::vanished : Result<Progress>{std::unexpected(no_such_task(process))};
    for (int round = 0;; ++round) {
        const auto before = threads_of_processes();
        const auto progress = TRY(open_tasks(before));
        if (progress != Progress::done) return progress;
        if (!options_.open.inherit) return open_new_threads(before);
        set_.stable_ = includes(before, threads_of_processes());
        if (set_.stable_ || round == kMaxRounds) return progress;
        close_opened();
    }
}

// Without `inherit` nothing is counted twice, so threads found later are added to what is open.
Result<SetOpener::Progress> SetOpener::open_new_threads(std::vector<pid_t> known) {
    for (int round = 0; round < kMaxRounds; ++round) {
        const auto now = threads_of_processes();
        std::vector<pid_t> new_threads;
        std::ranges::set_difference(now, known, std::back_inserter(new_threads));
        if (new_threads.empty()) return Progress::done;
        if (TRY(open_tasks(new_threads)) == Progress::again) return Progress::again;
        known = now;
    }
    set_.stable_ = false;
    return Progress::done;
}

Result<SetOpener::Progress> SetOpener::open_cgroup() {
    const int directory = kernel_.open_directory(target_.cgroup_path);
    if (directory < 0) return std::unexpected(cannot_open_cgroup(target_.cgroup_path, -directory));
    const EventFd closes{kernel_, directory};  // the events keep the cgroup, so the descriptor isn't needed later
    return open_cpus(directory, true, wanted_cpus());
}

// Events of a cgroup need a CPU each: the kernel refuses PERF_FLAG_PID_CGROUP with cpu -1 (EINVAL).
std::vector<int> SetOpener::wanted_cpus() const {
    return target_.cpus.empty() ? kernel_.online_cpus() : target_.cpus;
}

Result<SetOpener::Progress> SetOpener::open_cpus(pid_t pid, bool cgroup, std::span<const int> cpus) {
    for (const int cpu : cpus) {
        const auto progress = TRY(open_place({.pid = pid, .cpu = cpu, .cgroup = cgroup}));
        if (progress == Progress::again) return progress;
    }
    return Progress::done;
}

/// Events that can't be bound to a task, for a target of tasks: on their own CPUs, for everything that runs there.
Result<SetOpener::Progress> SetOpener::open_uncore() {
    std::vector<int> cpus;
    for (const auto& event : events_)
        if (event.cpu_wide_only) std::ranges::copy(event.cpus, std::back_inserter(cpus));
    std::ranges::sort(cpus);
    cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
    for (const int cpu : cpus) {
        const auto progress = TRY(open_place({.pid = -1, .cpu = cpu}, true));
        if (progress == Progress::again) return progress;
    }
    return Progress::done;
}

/// The events of a group to open in a place: not those refused, not those of another kind of place, and on a CPU only
/// those that its PMU counts.
std::vector<std::size_t> SetOpener::members_for(const std::vector<std::size_t>& group, Place place,
                                                bool cpu_wide_only) const {
    std::vector<std::size_t> members;
    for (const std::size_t number : group) {
        const auto& event = events_[number];
        if (set_.refusals_[number]) continue;
        if (!target_.cpu_wide() && event.cpu_wide_only != cpu_wide_only) continue;
        if (place.pid < 0 || place.cgroup)
            if (!event.cpus.empty() && !contains(event.cpus, place.cpu)) continue;
        members.push_back(number);
    }
    return members;
}

/// All groups in one place. If its thread ends meanwhile, the place is removed again.
Result<SetOpener::Progress> SetOpener::open_place(Place place, bool cpu_wide_only) {
    set_.places_.push_back(place);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        const auto progress = TRY(open_members(members_for(groups_[i], place, cpu_wide_only), place, weak_[i]));
        if (progress == Progress::done) continue;
        if (progress == Progress::vanished) {
            const std::size_t gone = set_.places_.size() - 1;
            std::erase_if(set_.groups_, [&](const auto& opened) { return opened.place == gone; });
            set_.places_.pop_back();
        }
        return progress;
    }
    return Progress::done;
}

/// Opens a group in a place; a member that is refused for good is left out and the rest tried again. A weak group that
/// is refused at a sibling is opened event by event.
Result<SetOpener::Progress> SetOpener::open_members(std::vector<std::size_t> members, Place place, bool weak) {
    OpenOptions how = options_.open;
    if (place.pid == -1 || place.cgroup) {  // not a task: there is neither an exec nor children
        how.inherit = false;
        if (how.start == Start::on_exec) how.start = Start::enabled;
    }
    while (!members.empty()) {
        std::vector<const events::Event*> group;
        group.reserve(members.size());
        for (const std::size_t number : members) group.push_back(&events_[number]);
        auto opened = Group::try_open(group, place, how, kernel_);
        if (opened) {
            set_.groups_.push_back({std::move(*opened), set_.places_.size() - 1, std::move(members)});
            return Progress::done;
        }
        // ESRCH: the thread has ended since it was listed.
        if (opened.error().errno_value == ESRCH) return Progress::vanished;
        if (weak && members.size() > 1 && opened.error().event > 0) {
            for (const std::size_t number : members)
                if (const auto one = TRY(open_members({number}, place, false)); one != Progress::done) return one;
            return Progress::done;
        }
        const std::size_t refused = members[opened.error().event];
        const auto explain_it = [&] { return explain_refusal(kernel_, group, place, how, opened.error()); };
        const auto progress = TRY(handle_refusal(refused, opened.error().errno_value, explain_it));
        if (progress != Progress::done) return progress;
        if (set_.refusals_[refused]) std::erase(members, refused);
    }
    return Progress::done;
}

/// Restricts the event to user mode, gives it up, or fails, as the options say.
Result<SetOpener::Progress> SetOpener::handle_refusal(std::size_t event, int errno_value,
                                                      const std::function<Error()>& search) {
    const Progress next = is_open_elsewhere(event) ? Progress::again : Progress::done;
    if (restrict_to_user(event, errno_value)) return next;
    Error error = explain(event, errno_value, search);
    if (options_.on_refusal == OnRefusal::fail || !is_about_the_event(errno_value))
        return std::unexpected(std::move(error));
    set_.refusals_[event] = Refusal{errno_value, std::move(error)};
    return next;
}

/// Sets exclude_kernel if that may help. False if it can't, or if it was already set.
bool SetOpener::restrict_to_user(std::size_t event, int errno_value) {
    auto& attr = events_[event].attr;
    const bool possible = options_.fall_back_to_user && (errno_value == EACCES || errno_value == EPERM) &&
                          (attr.flags & abi::flag("exclude_kernel")) == 0 && !target_.cpu_wide() &&
                          happens_in_user_mode(events_[event]);
    if (!possible) return false;
    attr.flags |= abi::flag("exclude_kernel") | abi::flag("exclude_hv");
    set_.user_only_[event] = true;
    return true;
}

/// The explanation of an earlier refusal that has the same cause, with the name of this event in it. The search for a
/// cause reads many files of the machine; that the CPU has no PMU need not be found again for every event.
std::optional<Error> SetOpener::known_explanation(std::size_t event, int errno_value) const {
    if (errno_value != ENOENT) return std::nullopt;
    for (std::size_t other = 0; other < events_.size(); ++other) {
        const auto& refusal = set_.refusals_[other];
        if (!refusal || refusal->errno_value != errno_value || !is_core_event(events_[other]) ||
            !is_core_event(events_[event]))
            continue;
        Error error = refusal->error;
        if (const auto at = error.what.find(events_[other].name); at != std::string::npos)
            error.what.replace(at, events_[other].name.size(), events_[event].name);
        return error;
    }
    return std::nullopt;
}

bool SetOpener::is_open_elsewhere(std::size_t event) const {
    return std::ranges::any_of(set_.groups_, [&](const auto& opened) { return contains(opened.members, event); });
}

Error SetOpener::no_such_task(pid_t pid) const {
    const std::array first{&events_.front()};
    const auto search = [&] { return explain_refusal(kernel_, first, {.pid = pid}, options_.open, {0, ESRCH}); };
    return explain(0, ESRCH, search);
}

// The cheapest source of an explanation first: an earlier refusal, then the kernel that refused (a virtual one knows
// its reason), then the search on the machine.
Error SetOpener::explain(std::size_t event, int errno_value, const std::function<Error()>& search) const {
    if (auto known = known_explanation(event, errno_value)) return std::move(*known);
    if (auto cause = kernel_.cause_of_refusal())
        return Error{"cannot count " + events_[event].name, std::move(*cause), ""};
    return search();
}

}  // namespace anyperf::counting
