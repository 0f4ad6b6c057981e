// trap_flag.h: programs that single-step themselves: they set the trap flag (TF, SDM volume 3, 17.3.2) by popf or in a
// signal's frame, and expect a SIGTRAP with TRAP_TRACE after each instruction until they clear it.
//
// The engine needs the CPU's trap flag for itself (signals/handler.cpp). So Thread::traps_each has the application's,
// and Thread::registers.flags never has it. While it is set, each instruction runs in a block of its own, after which
// the signal is queued, as at the end of a single step for the agent.
//
// How the flag is noticed: a popf sets the CPU's flag, and the CPU traps after the next host instruction. Translations
// put a nop there (emit_plain), so the thread is stopped before the next instruction of the application has begun.
//
// As on the CPU, the instruction that sets the flag causes no trap, and the one that clears it does. As in Linux, a
// system call's instruction causes none. LIMITS: an instruction after `mov ss` or `pop ss` is not joined with it, and
// iretq does not set the flag.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// The CPU has trapped in translated code of which the engine has asked nothing: the application has set its flag.
inline void begin_traps(Thread& thread) {
    thread.traps_each = true;
}

/// Whether the instruction at `pc` is to run in place, one repetition at a time: a string instruction with REP. On the
/// CPU each repetition traps.
bool repeats_at(std::uint64_t pc);

/// The thread is about to run the instruction at `pc` alone.
inline void before_trapped_instruction(Thread& thread, std::uint64_t pc) {
    thread.trapped_pc = pc;
}

/// Queues the signal of a debug exception, at registers.rip. `cause`: bits of DebugRegisters::status. Two exceptions
/// after the same instruction are one, as on the CPU.
void queue_trap(Thread& thread, std::uint64_t cause = kStepCause);

/// That instruction has run, and the next one is at registers.rip: queues its signal, unless `is_syscall`. Does nothing
/// if no instruction was about to run.
void after_trapped_instruction(Thread& thread, bool is_syscall = false);

}  // namespace anyperf::engine
