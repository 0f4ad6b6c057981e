// context_switches.h: context switches of a thread, for events that record them (attr.context_switch). A program is not
// notified when it loses its CPU. But the kernel counts a thread's switches (getrusage(2), RUSAGE_THREAD), and a thread
// that waits does so in a system call. So the thread compares those counts around each system call: a wait is reported
// after the call, with the time at which the call began; a preemption is reported at the next call. While no event asks
// for switches none of this is done.
//
// Which task had the CPU in between, and when exactly a switch happened, is not known.
#pragma once

#include "abi/attr_flags.h"
#include "agent/process.h"

namespace anyperf::agent {

/// A bit of ThreadPage::traced, above those of OccurrenceKind: an event of the thread records context switches.
inline constexpr std::uint32_t kTrackSwitches = 1u << 16;

/// The bit above: an event of the thread samples context switches or migrations.
inline constexpr std::uint32_t kSampleSwitches = 1u << 18;

/// Whether the event samples switches or migrations: then its overflows are looked for around each system call.
inline bool samples_switches(const EventPage& event) {
    return event.sampling != 0 && (event.source.kind == subsystem::Source::Kind::context_switches ||
                                   event.source.kind == subsystem::Source::Kind::cpu_migrations);
}

inline bool records_switches(const subsystem::EventShape& shape) {
    return (shape.flags & abi::flag("context_switch")) != 0;
}

/// Starts (`on`) or stops tracking the thread's context switches.
void track_switches(engine::Thread& thread, bool on);

/// A new task has got a CPU for the first time: reports that, if switches are tracked.
void report_first_switch_in(engine::Thread& thread);

/// Reports the switches since the last look. Called at the start of each system call and, with `after_call`, at its
/// end.
void report_new_switches(engine::Thread& thread, bool after_call);

}  // namespace anyperf::agent
