// off_cpu.h: how long threads wait, and where (--off-cpu). A sampled clock shows where a program runs; a thread that
// waits for a disk, a lock or a timer has no samples there.
//
// Two things that the kernel writes at a context switch are put together. The software event context-switches happens
// in the thread that leaves the CPU: its sample has the callers, but not what comes. The record SWITCH
// (attr.context_switch) is written when a thread leaves and when it comes back, on whatever CPU that is: it has both
// times, but no callers. So the sample is kept until the thread is back, and then written with the time between as its
// period, in nanoseconds, at the time of the end.
//
// Only waiting is counted. A thread that another one has taken the CPU from was still runnable, and its record says so
// (PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, Linux 4.17). Threads of the kernel are left out, since they wait whenever they
// have nothing to do. A wait that goes on at the end of the recording has no sample.
//
// Like perf's event of this name (offcpu-time), which needs BPF, the sample has the callers in user space only, and its
// address is the innermost of them.
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

/// Used by one thread. Records are given to it in the order of time.
class OffCpuTimes {
  public:
    /// `events`: as in the file, with their ids. `keeps_switches`: the SWITCH records are wanted in the file.
    OffCpuTimes(const std::vector<perfdata::EventInfo>& events, bool keeps_switches);

    /// Takes the sample if it is of kOffCpuEvent. False: it is of another event.
    bool take(Bytes sample);

    /// Follows another record. Returns the sample of a wait that it ends, valid until the next call; empty if it ends
    /// none.
    Bytes follow(Bytes record);

    /// Whether the record is to be written.
    bool wants(Bytes record) const;

  private:
    struct Wait {
        std::vector<std::byte> sample;
        std::uint64_t since = 0;  // 0: the thread has not left yet
    };

    void leave(std::uint32_t tid, std::uint64_t time, bool runnable);
    Bytes come_back(std::uint32_t tid, std::uint64_t time);

    perfdata::EventTable events_;
    bool keeps_switches_;
    std::unordered_map<std::uint32_t, Wait> waits_;  // by tid
    std::unordered_set<std::uint32_t> ended_;        // threads whose last switch is still to come
    std::vector<std::byte> finished_;
};

}  // namespace anyperf::recording
