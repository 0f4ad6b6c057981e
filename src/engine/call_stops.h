// call_stops.h: the stops of a traced thread before and after a system call (PTRACE_SYSCALL of ptrace(2)).
//
// The kernel can't make these stops, because it would also stop at the calls that the engine makes for itself. So the
// thread stops itself: it sends itself a SIGTRAP with a code of its own, and the kernel stops it for the tracer as for
// any signal. The signal's value is the address of a CallStop, which has the application's registers. The tracer's
// engine (syscalls/tracing/) shows the stop to the tracer as one at a system call, reads and writes the registers
// there, and continues the thread without the signal.
//
// If the tracer has gone, the signal arrives at the engine's handler, which drops it.
//
// A difference (docs/compatibility.md): if a signal interrupts a call, the kernel makes the stop after the call first,
// then the signal's stop. Here the signal's stop comes first.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/signals/engine_signals.h"
#include "engine/x86_64/cpu/signal_frame.h"
#include "run/thread_pages.h"
#include "run/trace_states.h"

namespace anyperf::engine {

/// struct user_regs_struct (sys/user.h).
struct TracedRegisters {
    std::uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
    std::uint64_t call;  ///< orig_rax: the number of the system call; -1: none
    std::uint64_t rip, cs, flags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};
static_assert(sizeof(TracedRegisters) == 216);

/// A stop at a system call, in the memory of the stopped thread.
struct CallStop {
    /// The numbers of ptrace_syscall_info::op.
    enum Where : std::uint32_t { elsewhere = 0, before_call = 1, after_call = 2 };

    Where where;
    std::uint32_t seen;  ///< 1: the tracer's engine has continued the thread
    TracedRegisters registers;
};
static_assert(sizeof(CallStop) % 8 == 0, "it is read and written by words");

/// Whether the signal is that of a stop at a system call.
inline bool is_call_stop(const x86_64::SignalInfo& info) {
    return info.signo == kTrap && info.code == run::kCallStopCode;
}

/// The state of the thread with this page (run/trace_states.h); null for kNoPage.
inline std::uint32_t* trace_state_of(const Engine& engine, std::uint32_t page) {
    if (page == run::kNoPage || engine.run_use == nullptr) return nullptr;
    auto* const memory = reinterpret_cast<std::uint8_t*>(engine.run_use);
    return &reinterpret_cast<run::TraceStates*>(memory + run::kTraceStatesOffset)->of_page[page];
}

/// Whether the thread has some of the bits of run::trace.
inline bool is_traced(const Thread& thread, std::uint32_t bits) {
    const std::uint32_t* const state = trace_state_of(*thread.engine, thread.page_number);
    return state != nullptr && (__atomic_load_n(state, __ATOMIC_RELAXED) & bits) != 0;
}

/// Begins the state of a page that is prepared for a child of the thread: a tracer that traces children, too, has the
/// options of the parent for them.
void begin_trace_state(const Thread& parent, std::uint32_t page);

/// Stops the thread before its system call. The tracer may change the number and the arguments. True: it has cancelled
/// the call, whose answer is `answer`.
bool stop_before_call(Thread& thread, std::uint64_t& number, std::uint64_t (&argument)[6], long& answer);

/// Stops the thread after its call, if the tracer wants that stop. `answer` is the call's answer or kRestartSyscall.
/// Returns the answer that the tracer leaves.
long stop_after_call(Thread& thread, std::uint64_t number, long answer);

/// The same after rt_sigreturn, whose answer is the restored rax.
void stop_after_return(Thread& thread);

/// The same after an execve, before the first instruction of the new program.
void stop_after_exec(Thread& thread);

/// For the signal handler: a stop's signal has arrived in the thread, so no tracer took it. Clears the thread's state.
void forget_tracer(const Thread& thread);

}  // namespace anyperf::engine
