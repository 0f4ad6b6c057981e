// set_opener.cpp: see set_opener.h.
//
// Threads that appear while a process is being opened: with `inherit` a new thread has the events of the thread that
// made it, if that one was open by then, and none otherwise; nothing tells which. So the process is opened as a whole
// and its threads are listed before and after. No new ones: each thread was opened once and none of them inherited.
// Otherwise everything is closed, which takes inherited events away too, and opened again. A process that makes threads
// all the time is left as it is after kPatience rounds: its makers were open, so what they made is counted.
#include "counting/set_opener.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "counting/open_event.h"

namespace anyperf::counting {

namespace {

constexpr int kPatience = 16;

/// What is wrong is the event, not the call: others may still be counted.
constexpr std::array kEventRefused{ENOENT, ENXIO,  EOPNOTSUPP, EINVAL, ENOSYS,   EACCES,
                                   EPERM,  ENODEV, ENOSPC,     EBUSY,  EOVERFLOW};

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

bool is_about_the_event(int errno_value) {
    return contains(kEventRefused, errno_value);
}

bool of_the_cpu(const events::Event& event) {
    return contains(std::array{abi::kTypeHardware, abi::kTypeHwCache, abi::kTypeRaw}, event.attr.type);
}

bool includes(std::span<const pid_t> known, std::span<const pid_t> others) {
    return std::ranges::includes(known, others);
}

}  // namespace

bool happens_in_user_mode(const events::Event& event) {
    return abi::happens_in_user_mode(event.attr.type, event.attr.config, event.name);
}

SetOpener::SetOpener(std::span<const events::EventGroup> groups, const Target& target, const SetOptions& options,
                     Kernel& kernel)
    : target_(target), options_(options), kernel_(kernel) {
    for (const auto& group : groups) {
        auto& members = groups_.emplace_back();
        weak_.push_back(group.weak);
        for (const auto& event : group.events) {
            members.push_back(events_.size());
            events_.push_back(event);
        }
    }
    set_.refusals_.resize(events_.size());
    set_.user_only_.resize(events_.size());
}

Result<CounterSet> SetOpener::open() {
    Progress progress = Progress::again;
    while (progress == Progress::again) {  // each round gives up or restricts one more event
        forget_opened();
        progress = TRY(open_target());
    }
    if (progress == Progress::vanished && !events_.empty())
        return std::unexpected(explain(0, {.pid = target_.ids.empty() ? 0 : target_.ids.front()}, ESRCH));
    set_.counts_.resize(set_.places_.size() * events_.size());
    set_.reading_.resize(events_.size());
    return std::move(set_);
}

void SetOpener::forget_opened() {
    set_.groups_.clear();
    set_.places_.clear();
}

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

Result<SetOpener::Progress> SetOpener::open_processes() {
    for (const pid_t process : target_.ids)
        if (kernel_.threads_of(process).empty())
            return events_.empty() ? Progress::vanished
                                   : Result<Progress>{std::unexpected(explain(0, {.pid = process}, ESRCH))};
    for (int round = 0;; ++round) {
        const auto before = threads_of_processes();
        const auto progress = TRY(open_tasks(before));
        if (progress != Progress::done) return progress;
        if (!options_.open.inherit) return open_newcomers(before);
        set_.stable_ = includes(before, threads_of_processes());
        if (set_.stable_ || round == kPatience) return progress;
        forget_opened();
    }
}

Result<SetOpener::Progress> SetOpener::open_newcomers(std::vector<pid_t> known) {
    for (int round = 0; round < kPatience; ++round) {
        const auto now = threads_of_processes();
        std::vector<pid_t> newcomers;
        std::ranges::set_difference(now, known, std::back_inserter(newcomers));
        if (newcomers.empty()) return Progress::done;
        if (TRY(open_tasks(newcomers)) == Progress::again) return Progress::again;
        known = now;
    }
    set_.stable_ = false;
    return Progress::done;
}

Result<SetOpener::Progress> SetOpener::open_cgroup() {
    const int directory = kernel_.open_directory(target_.cgroup_path);
    if (directory < 0)
        return std::unexpected(Error{"cannot count the cgroup " + target_.cgroup_path,
                                     directory == -ENOENT
                                         ? "there is no such directory"
                                         : "its directory can't be opened: " +
                                               std::string{directory == -EACCES ? "no permission" : "not a directory"},
                                     "give a directory of a mounted cgroup hierarchy (see `cat /proc/self/cgroup`)"});
    const EventFd closes{kernel_, directory};
    return open_cpus(directory, true, wanted_cpus());
}

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

Result<SetOpener::Progress> SetOpener::open_members(std::vector<std::size_t> members, Place place, bool weak) {
    OpenOptions how = options_.open;
    if (place.pid == -1 || place.cgroup) {  // no task: neither an exec nor children
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
        if (opened.error().errno_value == ESRCH) return Progress::vanished;
        if (weak && members.size() > 1 && opened.error().event > 0) {
            for (const std::size_t number : members)
                if (const auto one = TRY(open_members({number}, place, false)); one != Progress::done) return one;
            return Progress::done;
        }
        const std::size_t refused = members[opened.error().event];
        const auto progress = TRY(after_refusal(refused, place, opened.error().errno_value));
        if (progress != Progress::done) return progress;
        if (set_.refusals_[refused]) std::erase(members, refused);
    }
    return Progress::done;
}

Result<SetOpener::Progress> SetOpener::after_refusal(std::size_t event, Place place, int errno_value) {
    const Progress next = opened_elsewhere(event) ? Progress::again : Progress::done;
    if (restrict_to_user(event, errno_value)) return next;
    Error error = explain(event, place, errno_value);
    if (options_.on_refusal == OnRefusal::fail || !is_about_the_event(errno_value))
        return std::unexpected(std::move(error));
    set_.refusals_[event] = Refusal{errno_value, std::move(error)};
    return next;
}

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

/// Finding a cause looks at the whole machine; that the CPU has no PMU need be found once, not for every event of it.
std::optional<Error> SetOpener::explained_before(std::size_t event, int errno_value) const {
    if (errno_value != ENOENT) return std::nullopt;
    for (std::size_t other = 0; other < events_.size(); ++other) {
        const auto& refusal = set_.refusals_[other];
        if (!refusal || refusal->errno_value != errno_value || !of_the_cpu(events_[other]) ||
            !of_the_cpu(events_[event]))
            continue;
        Error error = refusal->error;
        if (const auto at = error.what.find(events_[other].name); at != std::string::npos)
            error.what.replace(at, events_[other].name.size(), events_[event].name);
        return error;
    }
    return std::nullopt;
}

bool SetOpener::opened_elsewhere(std::size_t event) const {
    return std::ranges::any_of(set_.groups_, [&](const auto& opened) { return contains(opened.members, event); });
}

Error SetOpener::explain(std::size_t event, Place place, int errno_value) const {
    if (auto known = explained_before(event, errno_value)) return std::move(*known);
    if (auto cause = kernel_.cause_of_refusal())
        return Error{"cannot count " + events_[event].name, std::move(*cause), ""};
    return explain_refusal(events_[event], {true, options_.open, read_formats(false).front()}, place, errno_value);
}

}  // namespace anyperf::counting
