// context_switches.h: context switches of a thread, for events that record them (attr.context_switch). A program is not
// notified when it loses its CPU. But its switches are counted (agent/thread_switches.h), and a thread waits only in
// system calls. So the thread compares those counts before and after each system call. It reports a wait
// after the call, with the time at which the call began, and a preemption at the next comparison. None of this is done
// while no event asks for switches.
//
// It is not known which task had the CPU in between, nor when exactly a switch happened.
#pragma once

#include "abi/attr_flags.h"
#include "agent/process.h"

namespace anyperf::agent {

/// A bit of ThreadPage::traced, above those of OccurrenceKind: an event of the thread records context switches.
inline constexpr std::uint32_t kTrackSwitches = 1u << 16;

/// Another bit of ThreadPage::traced (kCheckAfterSyscall is between the two): an event of the thread samples context
/// switches or migrations.
inline constexpr std::uint32_t kSampleSwitches = 1u << 18;

/// Whether the event samples switches or migrations: then the thread looks for its overflows before and after each
/// system call.
inline bool samples_switches(const EventPage& event) {
    return event.sampling != 0 && (event.source.kind == subsystem::Source::Kind::context_switches ||
                                   event.source.kind == subsystem::Source::Kind::cpu_migrations);
}

inline bool records_switches(const subsystem::EventShape& shape) {
    return (shape.flags & abi::flag("context_switch")) != 0;
}

/// Starts (`on`) or stops tracking the thread's context switches.
void track_switches(engine::Thread& thread, bool on);

/// Reports that a new task has got a CPU for the first time, if switches are tracked.
void report_first_switch_in(engine::Thread& thread);

/// Reports the switches since the last comparison. Called before each system call and, with `after_call`, after it.
void report_new_switches(engine::Thread& thread, bool after_call);

}  // namespace anyperf::agent
