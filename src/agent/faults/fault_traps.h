// fault_traps.h: finds the instruction of each page fault of a thread, for events that sample page faults.
//
// Problem: the thread's own count of its faults (fault_counts.cpp) shows that faults have happened since it was last
// read, but not which instructions caused them. Reading it after each instruction would make the program ten thousand
// times slower.
//
// Mechanism: while an event of the thread samples faults, the thread has a software event of the kernel open on itself,
// with period 1 and attr.sigtrap. At each fault in user mode the kernel sends a SIGTRAP with the address, before the
// instruction is repeated (perf_sigtrap(), Linux 5.13 and later). This needs no PMU. The engine's signal handler stops
// the thread before that instruction and calls hooks::at_page_fault, which handles the overflows that are due. So a
// sample has the instruction, its registers and the address, and only faults cost time. A mapping keeps the kernel's
// event alive. Therefore its descriptor is closed at once and takes no number from the program.
//
// The kernel may refuse the event: a seccomp filter, perf_event_paranoid above 2 on Debian, or an old kernel. Then the
// thread reads the count of its faults after each stretch of instructions. The first stretch after a fault is one
// instruction, and each further one is longer. Faults count at the end of their stretch. So a sample is late by about a
// ninth of the distance to the last fault, and by at most 8192 instructions. It does not have the faulting address.
#pragma once

#include <cstdint>

#include "agent/process.h"

namespace anyperf::agent {

/// Opens the kernel's event if `wanted`, else closes it. The child of a fork does not inherit the mapping, but must
/// close the event too before it opens its own.
void set_fault_traps(engine::Thread& thread, bool wanted);

/// Handles the overflows of events that count page faults. Samples get the thread's current registers.
void handle_fault_overflows(engine::Thread& thread);

/// Call after a fault of the instruction at the thread's rip, before it is repeated: handles the overflows that are
/// due.
void report_page_fault(engine::Thread& thread);

/// Without the kernel's event: the number of instructions that the thread may run before it reads its faults again.
/// Call after each such read.
std::int64_t next_fault_stretch(engine::Thread& thread);

}  // namespace anyperf::agent
