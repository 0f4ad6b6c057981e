// fault_traps.h: where a thread's page faults happen, for events that sample them.
//
// Problem: the thread's own count of its faults (fault_counts.cpp) says that some have happened since the last look,
// and not which instruction caused them. To look after each instruction costs ten thousand times the program's own
// time.
//
// Mechanism: the kernel knows. While an event of the thread samples faults, the thread has a software event of the
// kernel's open on itself, with period 1 and attr.sigtrap: each fault in user mode sends it a SIGTRAP with the address,
// before the instruction is repeated (perf_sigtrap() of Linux 5.13 and later). No PMU is needed. The engine's signal
// handler stops the thread before that instruction and calls hooks::at_page_fault, which handles overflows that are
// due. So a sample has the instruction, its registers and the address, and only faults cost time. The kernel's event
// lives as long as a mapping of it does; so its descriptor is closed at once, and the program has none more.
//
// Where the kernel refuses the event (a seccomp filter, perf_event_paranoid above 2 on Debian, an old kernel) the
// thread looks at the count of its faults after a stretch of instructions: one instruction after a fault, then longer
// ones the longer there was none. Samples are then late by a ninth of the distance to the last fault, at most by 8192
// instructions, and do not say what was touched; faults of one stretch are counted at its end.
#pragma once

#include <cstdint>

#include "agent/process.h"

namespace anyperf::agent {

/// Opens the kernel's event (`wanted`) or closes it. The child of a fork, which does not have its parent's mapping,
/// closes it, too, before it opens its own.
void set_fault_traps(engine::Thread& thread, bool wanted);

/// Handles the overflows that are due of events that count page faults, at the thread's registers.
void handle_fault_overflows(engine::Thread& thread);

/// The instruction at the thread's registers has faulted: handles what is due, before it is repeated.
void report_page_fault(engine::Thread& thread);

/// Without the kernel's event: how many instructions the thread may run before it looks for faults again. Called when
/// it has just looked.
std::int64_t next_fault_stretch(engine::Thread& thread);

}  // namespace anyperf::agent
