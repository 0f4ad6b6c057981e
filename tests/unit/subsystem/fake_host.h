// fake_host.h: a Host made of variables: tasks whose counters, clocks and CPUs a test changes, and pages in ordinary
// memory. It needs no engine and no broker.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "subsystem/host.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

/// A thread of the fake run, with all that its events can count.
struct FakeTask {
    TaskId name;
    std::uint64_t ran_ns = 0;
    std::map<std::uint32_t, std::uint64_t> counters = {};  ///< by Source::Term::counter
    std::map<Source::Kind, std::uint64_t> kinds = {};      ///< faults, switches, migrations
    std::int32_t cpu = 0;
    std::uint64_t cgroup = 1;
    bool alive = true;
    ActiveEvents active_events = {};  ///< as the subsystem set them last
    int safepoint_requests = 0;       ///< so far

    /// The task runs for `ns`, in which its counter 0 grows by `count`.
    void run(std::uint64_t ns, std::uint64_t count) {
        ran_ns += ns;
        counters[0] += count;
    }
};

/// The rights of every caller, whatever its thread.
struct FakeCaller : Credentials, MemoryAccount {
    FakeCaller() { uid = 1000; }
};

class FakeHost final : public Host {
  public:
    bool out_of_patience = false;
    Limits limits_now{.cpus = 2};
    FakeCaller caller;
    std::uint64_t time_ns = 1'000'000;
    std::set<std::int32_t> forbidden;   ///< pids that no caller may measure
    std::set<std::int32_t> outsiders;   ///< processes of the machine outside the run
    std::set<EventIndex> poll_changes;  ///< events whose poll state was reported as changed
    std::size_t credential_looks = 0;   ///< how often it was asked for the rights of a caller
    std::size_t cgroup_looks = 0;       ///< how often it was asked whether a task is in a cgroup
    std::deque<FakeTask> threads;       ///< a deque: references to its elements stay valid
    std::size_t room_for_events = 100'000;

    FakeTask& start(std::int32_t pid, std::int32_t tid) {
        const auto page = static_cast<std::uint32_t>(threads.size());
        threads.push_back({.name = {page, pid, tid}});
        return threads.back();
    }
    FakeTask& start(std::int32_t pid) { return start(pid, pid); }

    std::uint64_t clock(std::int32_t) override { return time_ns; }
    std::uint64_t task_clock(const TaskId& task) override { return of(task).ran_ns; }
    std::uint64_t value(const TaskId& task, const Source& source) override;
    void call_ended() override {}

    Answer<TaskId> find_task(const TaskId&, std::int32_t tid) override {
        const auto found = std::ranges::find_if(threads, [tid](const auto& t) { return t.alive && t.name.tid == tid; });
        if (found != threads.end()) return found->name;
        if (outsiders.contains(tid)) return TaskId{kOutsideOfRun, tid, tid};
        return refuse(ESRCH, "no such thread");
    }
    std::vector<TaskId> living_tasks() override {
        std::vector<TaskId> all;
        for (const FakeTask& task : threads)
            if (task.alive) all.push_back(task.name);
        return all;
    }
    std::int32_t cpu(const TaskId& task) override { return of(task).cpu; }
    bool in_cgroup(const TaskId& task, std::uint64_t cgroup) override {
        ++cgroup_looks;
        return of(task).cgroup == cgroup;
    }
    Credentials credentials(const TaskId&) override {
        ++credential_looks;
        return static_cast<const Credentials&>(caller);
    }
    MemoryAccount memory_account(const TaskId&) override { return static_cast<const MemoryAccount&>(caller); }
    bool may_measure(const TaskId&, const TaskId& task) override { return !forbidden.contains(task.pid); }
    Limits limits() override { return limits_now; }

    void set_active_events(const TaskId& task, const ActiveEvents& active_events) override {
        of(task).active_events = active_events;
    }
    void request_safepoint(const TaskId& task) override { ++of(task).safepoint_requests; }
    void poll_changed(EventIndex event) override { poll_changes.insert(event); }

    EventIndex new_event_page(const TaskId*) override {
        if (pages_.size() >= room_for_events) return 0;
        pages_[++last_event_] = {};
        return last_event_;
    }
    EventPage& event_page(EventIndex event) override { return pages_.at(event); }
    void free_event_page(EventIndex event) override { pages_.erase(event); }
    FilterIndex new_filter(const Filter& filter) override {
        filters_[++last_filter_] = filter;
        return last_filter_;
    }
    void free_filter(FilterIndex filter) override { filters_.erase(filter); }
    RingIndex new_ring(std::uint32_t data_pages) override {
        rings_[++last_ring_].memory.resize((data_pages + 1) * kRingPageBytes);
        return last_ring_;
    }
    RingPage& ring_page(RingIndex ring) override { return rings_.at(ring).page; }
    std::span<std::byte> ring_memory(RingIndex ring) override { return rings_.at(ring).memory; }
    std::uint64_t ring_offset(RingIndex ring) override { return rings_.at(ring).page.offset; }
    void free_ring(RingIndex ring) override { rings_.erase(ring); }
    std::int32_t lock_holder() override { return 4711; }
    bool is_abandoned(std::int32_t) override { return true; }
    bool is_out_of_patience() override { return out_of_patience; }

    std::size_t pages() const { return pages_.size(); }
    std::size_t filters() const { return filters_.size(); }
    std::size_t rings() const { return rings_.size(); }

  private:
    struct FakeRing {
        RingPage page;
        std::vector<std::byte> memory;
    };

    FakeTask& of(const TaskId& task) { return threads.at(task.thread_page); }

    std::map<EventIndex, EventPage> pages_;
    std::map<RingIndex, FakeRing> rings_;
    std::map<FilterIndex, Filter> filters_;
    EventIndex last_event_ = 0;
    FilterIndex last_filter_ = 0;
    RingIndex last_ring_ = 0;
};

inline std::uint64_t FakeHost::value(const TaskId& task, const Source& source) {
    const FakeTask& of_task = of(task);
    if (source.kind == Source::Kind::task_clock) return of_task.ran_ns;
    if (source.kind == Source::Kind::cpu_clock) return time_ns;
    if (source.kind != Source::Kind::counters) {
        const auto found = of_task.kinds.find(source.kind);
        return found == of_task.kinds.end() ? 0 : found->second;
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < source.terms; ++i) {
        const auto found = of_task.counters.find(source.term[i].counter);
        if (found != of_task.counters.end()) sum += found->second * source.term[i].weight;
    }
    return sum >> source.shift;
}

}  // namespace anyperf::subsystem
