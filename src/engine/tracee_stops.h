// tracee_stops.h: the stops of a traced thread (ptrace(2)) that its engine makes: before and after a system call
// (PTRACE_SYSCALL), before a signal is delivered, and after a single step.
//
// The kernel can't make these stops. It would also stop at the calls that the engine makes for itself, and it stops a
// tracee wherever a signal finds it: in translated code or in the engine, whose registers are not the application's. So
// the thread stops itself where its registers are known: it sends itself a SIGTRAP with a code of its own, and the
// kernel stops it for the tracer as for any signal. The signal's value is the address of a TraceeStop, which has the
// application's registers. The tracer's engine (syscalls/tracing/) shows the stop to the tracer as what it stands for,
// reads and writes the registers there, and continues the thread without the signal.
//
// A signal's own stop is hidden by the tracer's engine (syscalls/tracing/waits.cpp), which lets the signal go on to the
// tracee's engine. That brings the thread to a safepoint and stops it there. The tracer passes the signal on, drops it
// or replaces it. A signal that the tracee has no handler for would not reach its engine: the kernel would follow the
// default action. Such a one travels as a SIGTRAP with run::kStoppedSignalCode, which has the real number and code in
// fields that are free (StoppedSignal).
//
// PTRACE_INTERRUPT stops a tracee by the kernel, without a signal. If it makes no system call then, the tracer's
// engine hides the stop, sends the tracee a SIGTRAP with the code of a StoppedSignal of no number, and lets it go on.
// The tracee's engine brings the thread to a safepoint and stops it there.
//
// Single steps go by Thread::traps_each, as those of a program that sets its trap flag (trap_flag.h). After each stop
// at a signal at which the tracer has looked at registers the thread forgets all translations: a debugger writes
// breakpoints into the code, by ptrace or by /proc/PID/mem.
//
// If the tracer has gone, the SIGTRAP arrives at the engine's handler, which drops it.
//
// A difference (docs/compatibility.md): if a signal interrupts a call, the kernel makes the stop after the call first,
// then the signal's stop. Here the signal's stop comes first.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/signals/engine_signals.h"
#include "engine/signals/signal_queue.h"
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

inline constexpr std::uint64_t kNoCall = ~std::uint64_t{0};  ///< of TracedRegisters::call

/// A stop at a system call, for a signal or for PTRACE_INTERRUPT, in the memory of the stopped thread.
struct TraceeStop {
    /// The numbers of ptrace_syscall_info::op, and two more.
    enum Where : std::uint32_t { elsewhere = 0, before_call = 1, after_call = 2, at_signal = 3, interrupted = 4 };

    Where where = elsewhere;
    std::uint32_t seen = 0;      ///< 1: the tracer's engine has continued the thread
    std::uint32_t signal = 0;    ///< at_signal: the signal that the tracer passes on; 0: none
    std::uint32_t steps = 0;     ///< 1: the thread is to stop after one instruction
    std::uint32_t debugged = 0;  ///< 1: the tracer has looked at registers, so it may also change code
    std::uint32_t padding = 0;
    TracedRegisters registers{};
    x86_64::SignalInfo info{};  ///< at_signal: of the signal

    bool is_at_call() const { return where == before_call || where == after_call; }
};
static_assert(sizeof(TraceeStop) % 8 == 0, "it is read and written by words");

/// Whether the signal is that of a stop that the thread's engine has made.
inline bool is_tracee_stop(const x86_64::SignalInfo& info) {
    return info.signo == kTrap && info.code == run::kTraceeStopCode;
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

/// Stops the thread for its tracer, while it has a bit of `bits`. Takes the registers that the tracer leaves. Without a
/// tracer `stop` stays as it is.
void stop_with(Thread& thread, TraceeStop& stop, std::uint32_t bits);

/// Stores the application's general registers.
void put_registers(const x86_64::Registers& from, TracedRegisters& to);

/// The application's registers at a stop. `call` is the number of its system call, kNoCall outside of one. `at_call`:
/// rcx and r11 are as SYSCALL leaves them (SDM volume 2).
TracedRegisters shown_registers(const Thread& thread, std::uint64_t call, std::uint64_t result, bool at_call);

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

/// A signal on its way to the tracee's engine.
struct StoppedSignal {
    /// The signal as a SIGTRAP.
    static x86_64::SignalInfo packed(const x86_64::SignalInfo& signal) {
        x86_64::SignalInfo info = signal;
        info.signo = kTrap;
        info.error = signal.signo;
        info.code = run::kStoppedSignalCode;
        info.padding = signal.code;
        // The kernel takes no more of a code that it does not know (post_copy_siginfo_from_user()).
        constexpr std::size_t kKept = 48 - offsetof(x86_64::SignalInfo, rest);
        __builtin_memset(info.rest + kKept, 0, sizeof info.rest - kKept);
        return info;
    }
    static bool is(const x86_64::SignalInfo& info) {
        return info.signo == kTrap && info.code == run::kStoppedSignalCode;
    }
    /// What brings the tracee to a safepoint, where it stops without a signal (run::trace::kInterrupted).
    static x86_64::SignalInfo interrupt() { return packed({}); }
    static bool is_interrupt(const x86_64::SignalInfo& info) { return is(info) && info.error == 0; }
    static x86_64::SignalInfo unpacked(const x86_64::SignalInfo& packed) {
        x86_64::SignalInfo info = packed;
        info.signo = packed.error;
        info.code = packed.padding;
        info.error = info.padding = 0;
        return info;
    }
};

/// Stops the thread for the signal, which is about to be delivered. Changes it as the tracer wishes. False: the tracer
/// has dropped it. Precondition: the thread has run::trace::kAtSignals.
bool stop_for_signal(Thread& thread, QueuedSignal& signal);

/// Stops the thread for PTRACE_INTERRUPT, if it has run::trace::kInterrupted.
void stop_if_interrupted(Thread& thread);

/// For the signal handler: has the thread stop at the next safepoint.
void request_interrupt(const Thread& thread);

/// Follows what the tracer has left in the stop besides registers: single steps, and code that it may have changed.
void after_stop(Thread& thread, const TraceeStop& stop);

/// Instruments the thread's code for debug registers that the tracer has changed.
void follow_debug_registers(Thread& thread);

/// Whether the thread does a step for its tracer.
inline bool is_stepping(const Thread& thread) {
    return is_traced(thread, run::trace::kSteps);
}

/// Ends a step: clears Thread::traps_each, unless the application has set its trap flag itself (disable_single_step()
/// in arch/x86/kernel/step.c).
inline void end_step(Thread& thread) {
    if (is_stepping(thread) && !is_traced(thread, run::trace::kOwnTrapFlag)) thread.traps_each = false;
}

/// During a step the application has loaded its trap flag: whether it is set outlives the step.
void keep_trap_flag(const Thread& thread, bool set);

/// The thread is about to send itself a signal that the tracer has passed on, so that the kernel follows the default
/// action. The tracer's engine hides the kernel's stop for it.
void announce_passed_signal(const Thread& thread);

}  // namespace anyperf::engine
