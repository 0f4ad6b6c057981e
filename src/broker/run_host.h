// run_host.h: the subsystem's view of a run: tasks are thread pages, counts are their live counters, time and rights
// are the machine's.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "broker/machine_files.h"
#include "broker/run_memory.h"
#include "subsystem/host.h"

namespace anyperf::broker {

using subsystem::Answer;
using subsystem::EventIndex;
using subsystem::EventPage;
using subsystem::FilterIndex;
using subsystem::RingIndex;
using subsystem::RingPage;
using subsystem::Source;
using subsystem::TaskName;

class RunHost final : public subsystem::Host {
  public:
    /// `memory` and `limits` live longer than this.
    RunHost(RunMemory& memory, subsystem::Limits limits, MachineFiles& files);
    ~RunHost() override;

    /// Who asks while a request is handled, how long it has run and where: it knows better than /proc.
    void called_by(const TaskName& caller, std::uint64_t task_clock, std::int32_t cpu);
    void caller_gone() { caller_ = {}; }
    /// Events whose poll state has changed since the last look.
    std::vector<EventIndex> take_changed();
    /// The thread has ended or its page belongs to another one now.
    void forget(std::uint32_t thread_page);

    std::uint64_t clock(std::int32_t clockid) override;
    std::uint64_t task_clock(const TaskName& task) override;
    std::uint64_t value(const TaskName& task, const Source& source) override;
    void moment_over() override { ++moment_; }
    Answer<TaskName> find_task(const TaskName& caller, std::int32_t tid) override;
    std::vector<TaskName> living_tasks() override;
    std::int32_t cpu(const TaskName& task) override;
    bool in_cgroup(const TaskName& task, std::uint64_t cgroup) override;
    subsystem::Credentials credentials(const TaskName& caller) override;
    subsystem::MemoryAccount memory_account(const TaskName& caller) override;
    bool may_measure(const TaskName& caller, const TaskName& task) override;
    subsystem::Limits limits() override;
    void arm(const TaskName& task, const subsystem::Armed& armed) override;
    void attend(const TaskName& task) override;
    void poll_changed(EventIndex event) override { changed_.push_back(event); }
    EventIndex new_event_page() override;
    EventPage& event_page(EventIndex event) override { return memory_.event(event); }
    void free_event_page(EventIndex event) override;
    FilterIndex new_filter(const subsystem::Filter& filter) override;
    void free_filter(FilterIndex filter) override;
    RingIndex new_ring(std::uint32_t data_pages) override;
    RingPage& ring_page(RingIndex ring) override { return memory_.ring(ring); }
    std::span<std::byte> ring_memory(RingIndex ring) override;
    void free_ring(RingIndex ring) override;
    std::int32_t lock_holder() override;
    bool abandoned(std::int32_t holder) override;

  private:
    struct TaskMemory {
        std::int32_t tid = 0;           ///< whose this is: a page has one thread after the other
        std::uint64_t clock = 0;        ///< the last one told: it never falls
        std::uint64_t clock_seen = 0;   ///< in which moment that was
        engine::LiveCounters counts{};  ///< as they were looked at
        std::uint64_t counts_seen = 0;  ///< in which moment
        std::int32_t cpu = -1;          ///< that it asked from last
        std::uint64_t moves = 0;     ///< the last number read; between two that it asked from, where none can be read
        std::uint64_t switches = 0;  ///< the last number read
        bool gone = false;           ///< /proc has it no more
    };

    /// Whose page it is, if that one is there.
    std::optional<TaskName> living(std::uint32_t thread_page) const;
    std::optional<TaskName> look_for(std::int32_t tid) const;
    bool runs_engine(std::int32_t tid) const;
    TaskMemory& memory_of(const TaskName& task);
    const engine::LiveCounters& counts_of(const TaskName& task);
    std::uint64_t known_switches(const TaskName& task);
    std::uint64_t known_moves(const TaskName& task);
    bool is_caller(const TaskName& task) const { return task == caller_; }

    RunMemory& memory_;
    subsystem::Limits limits_;
    MachineFiles& files_;
    TaskName caller_;
    std::uint64_t moment_ = 1;
    std::unordered_map<std::uint32_t, TaskMemory> tasks_;  ///< by thread page
    std::vector<EventIndex> changed_;
    std::vector<EventIndex> free_events_;
    EventIndex next_event_ = 1;
    std::vector<std::uint32_t> filter_users_;  ///< by FilterIndex
    std::vector<RingIndex> free_rings_;
    RingIndex next_ring_ = 1;
    std::map<RingIndex, std::span<std::byte>> ring_memory_;
    std::uint64_t rings_end_;                                       ///< of the memfd
    std::multimap<std::uint64_t, std::uint64_t> free_ring_memory_;  ///< bytes, offset
};

}  // namespace anyperf::broker
