// occurrences.h: occurrences in a thread: system calls, forks, execs, ends of tasks, and uprobes. The thread in which
// one happens reports it to its own events. An event of that kind counts the occurrence if the record passes the
// event's filter, and samples it if the event's period ends there. The records are those of the kernel's tracepoints
// (src/pmu/tracing/tracepoint_table.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/process.h"

namespace anyperf::agent {

using engine::Thread;

/// One occurrence. `what` says which of the other members are valid.
struct Occurrence {
    subsystem::Source::OccurrenceKind what = subsystem::Source::OccurrenceKind::none;
    std::uint32_t call = 0;                    ///< syscall_entered, syscall_returned: number of the system call
    const std::uint64_t* arguments = nullptr;  ///< syscall_entered: six, borrowed for the report
    long answer = 0;                           ///< syscall_returned: what the call returns
    std::int32_t child = 0;                    ///< process_forked: id of the new thread
    bool whole_process = false;                ///< task_ended: the process ends with all its threads
    subsystem::ProbeIndex place = 0;           ///< probe_reached, probe_returned: the uprobe
    std::uint64_t address = 0;                 ///< probe_reached, probe_returned: where it is in this process
};

/// Reports an occurrence to the thread's events, at the thread's registers. Has no effect if no event waits for it:
/// callers check is_traced() first, to save the walk.
void report_occurrence(Thread& thread, const Occurrence& occurrence);

/// Whether an event of this thread waits for this kind of occurrence.
inline bool is_traced(const Thread& thread, subsystem::Source::OccurrenceKind what) {
    return (thread.page.traced >> static_cast<unsigned>(what) & 1) != 0;
}

}  // namespace anyperf::agent
