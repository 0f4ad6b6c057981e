// off_cpu.h: how long threads wait, and where (--off-cpu). A sampled clock shows where a program runs; a thread that
// waits for a disk, a lock or a timer has no samples there.
//
// Two things that the kernel writes at a context switch are put together:
// - A sample of the software event context-switches, which happens in the thread that leaves the CPU. It has the
//   callers, but not how long the wait will be.
// - The SWITCH records (attr.context_switch): one when a thread leaves, one when it comes back, on whatever CPU.
//   They have both times, but no callers.
// At a switch out the kernel writes the sample first and the record second (perf_event_task_sched_out()). So the sample
// is kept until the thread is back. It is then written with that time, and the nanoseconds of the wait are its period.
//
// Only waiting is counted. If another thread took the CPU, this one was still runnable, and its record is marked
// (PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, Linux 4.17). Threads of the kernel are left out, since they wait whenever they
// have nothing to do. A wait that has not ended when the recording ends has no sample.
//
// As in perf's event of the same name (offcpu-time), which needs BPF, the sample has the callers in user space only,
// and its address is the innermost of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "perfdata/event_table.h"

namespace anyperf::recording {

using perfdata::Bytes;

/// The name of the event of these samples.
inline constexpr const char* kOffCpuEvent = "offcpu-time";

/// Used by one thread, which passes it the records in the order of time.
class OffCpuTimes {
  public:
    /// `events`: as in the file, with their ids. `keeps_switches`: the file gets the SWITCH records, too.
    OffCpuTimes(const std::vector<perfdata::EventInfo>& events, bool keeps_switches);

    /// Keeps the sample if it is of kOffCpuEvent: it must not be written. False: it is of another event.
    bool take(Bytes sample);

    /// Follows a record that is not a sample. If a wait ends with it, returns the sample of that wait, valid until the
    /// next call; else returns nothing.
    Bytes follow(Bytes record);

    /// Whether the file gets the record.
    bool wants(Bytes record) const;

  private:
    struct Wait {
        std::vector<std::byte> sample;
        std::uint64_t since = 0;  // 0: the record of the switch out has not come
    };

    void leave(std::uint32_t tid, std::uint64_t time, bool runnable);
    Bytes come_back(std::uint32_t tid, std::uint64_t time);

    perfdata::EventTable events_;
    bool keeps_switches_;
    std::unordered_map<std::uint32_t, Wait> waits_;  // by tid
    std::unordered_set<std::uint32_t> ended_;  // by tid: an exiting thread leaves the CPU once more after its EXIT
    std::vector<std::byte> finished_;
};

}  // namespace anyperf::recording
