// handler.cpp: the handler of every signal of the process.
//
// A signal meets the engine
//
// The problem: the kernel delivers a signal at any instruction: in translated code, where the host's registers are not
// quite the application's (some are borrowed, a segment's instructions are counted in advance), or in the engine's own
// C++, which may hold a lock. The application's handler must see an address of the application, exact registers and
// exact counts. The simple way, to run the application's handler straight from here, was rejected: it would need a
// state that can be recovered at every host instruction, and would run the application's code (which must be
// translated) in the middle of the engine. Checking a flag in each block was rejected as well: it would cost every
// block.
//
// The mechanism: all handlers in the kernel are signal_entry(). It queues the signal, brings the thread to a place
// where the application's registers are known, and returns with all other signals blocked. There deliver_and_resume()
// (deliver.cpp) builds the kernel's frame for the application's handler and enters that like any other code. Where the
// signal finds the thread:
// - At the first byte of an instruction's translation (BlockPosition::exact): the registers are the application's. What
//   its segment has counted from there on is uncounted, and this handler returns to the delivery.
// - In the middle of an instruction's translation, in a prologue or in a stub: the trap flag is set, and each trap
//   comes back here, until the thread is at an exact place or in a routine. Other signals stay blocked meanwhile.
// - In the entry routine: the registers are all still in the Thread, and this handler returns to the delivery. In an
//   exit routine: the engine runs next anyway, and looks at `pending` before it enters again.
// - In the engine: only `pending` is set. The entry routine looks at it.
// - In a system call that waits: the few instructions around `syscall` are known by their addresses (interruptible.h).
// Faults are different, since the thread can't go on first. A fault in a block is the application's: its registers are
// recovered in the middle of the instruction, with borrowed ones taken from their spill slots (recover.h). A fault of
// the engine while it reads code or copies the application's memory makes that operation fail (guarded_copy.h). A write
// fault on protected code removes translations and repeats the write (protected_code.h). Any other fault is a defect.
//
// The two edges:
// - Going in: a signal between the entry routine's look at `pending` and its jump to the block would be late. So the
//   handler recognises the whole routine by its addresses and redirects it to the delivery.
// - Coming out: deliver_and_resume() clears `pending` first, so a signal that comes during the delivery sets it again
//   and leads to another delivery.
// A safepoint request is a SIGTRAP with anyperf's own code. It interrupts the application's system call, which is then
// restarted without a trace. If the thread is in the kernel (ThreadPage::in_kernel), the broker sends no signal.
//
// What it can't do: deliver at once. A signal waits for the rest of an instruction, of a stub, or of the engine's work.
// Of kEngineSignals that come while the application blocks them the first of each number is kept, as by the kernel.
#include "engine/signals/handler.h"
#include "engine/exact/exact.h"
#include "engine/tracee_stops.h"

#include <asm/unistd.h>

#include "engine/fail.h"
#include "engine/freestanding/own_segments.h"
#include "engine/freestanding/text.h"
#include "engine/hooks.h"
#include "engine/instrumentation/open_calls.h"
#include "engine/memory/protected_code.h"
#include "engine/modelling/modelling.h"
#include "engine/presented_cpu.h"
#include "engine/signals/engine_signals.h"
#include "engine/signals/interruptible.h"
#include "engine/signals/process_signals.h"
#include "engine/signals/signal_state.h"
#include "engine/trap_flag.h"
#include "engine/turn_end.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/translate/recover.h"

namespace anyperf::engine {

using x86_64::BlockPosition;
using x86_64::Registers;
using x86_64::SignalContext;
using x86_64::SignalInfo;
using x86_64::UserContext;

namespace {

constexpr int kIll = 4;
constexpr int kBus = 7;
constexpr int kFpe = 8;
constexpr int kNoAddress = 2;         // BUS_ADRERR
constexpr int kFoundMemoryError = 5;  // BUS_MCEERR_AO
constexpr std::uint64_t kTrapFlag = 0x100;
constexpr std::uint64_t kInitialFlags = 0x202;  // interrupts enabled; bit 1 is always 1 (SDM volume 1, 3.4.3)
constexpr std::uint64_t kWriteFault = 2;        // page fault error code (SDM volume 3, 4.7)

/// Whether an instruction raised the signal.
bool is_fault(const SignalInfo& info) {
    const bool fault_signal =
        info.signo == kIll || info.signo == kTrap || info.signo == kBus || info.signo == kFpe || info.signo == kSegv;
    const bool by_event = info.signo == kTrap && info.code == run::kTrapPerf;
    // The kernel has found broken memory that nobody has used yet (PR_MCE_KILL_EARLY of prctl(2)).
    const bool of_found_memory = info.signo == kBus && info.code == kFoundMemoryError;
    // Codes of 0 and below are of kill(2) and the like: asynchronous, whatever the signal.
    return fault_signal && !by_event && !of_found_memory && info.code > 0;
}

/// Whether the thread is right after a system call of the engine. No instruction faults there, so a signal that looks
/// like a fault was sent by the thread to itself. SYSCALL leaves its return address in rcx (SDM volume 2).
bool is_after_own_syscall(const SignalContext& context) {
    return context.rcx == context.rip && is_own_code(context.rip);
}

/// The registers of the interrupted code, without the trap flag.
Registers registers_of(const SignalContext& c) {
    return {
        {c.rax, c.rcx, c.rdx, c.rbx, c.rsp, c.rbp, c.rsi, c.rdi, c.r8, c.r9, c.r10, c.r11, c.r12, c.r13, c.r14, c.r15},
        c.rip,
        c.flags & ~kTrapFlag};
}

/// Whether `signal` is a standard signal that is queued already. The kernel keeps one of those that are blocked.
/// Threads that take turns get each of them once: whether the kernel delivers the first one before the second is sent
/// depends on how fast the thread wakes up.
bool is_queued(const SignalState& signals, int signal) {
    constexpr int kFirstRealtime = 32;
    return signal < kFirstRealtime && signals.queue.has([&](const QueuedSignal& queued) {
        return queued.info.signo == signal && !queued.synchronous;
    });
}

/// Queues the signal for the application.
void queue(Thread& thread, const SignalInfo& info, const SignalContext& context, bool synchronous) {
    SignalState& signals = *thread.signals;
    const bool once = thread.engine->turns != nullptr || signals.blocks(info.signo);
    if (!synchronous && once && is_queued(signals, info.signo)) return;
    // Where there is no place the signal is dropped: see the head of this file.
    signals.queue.add({info, context.err, context.trapno, context.cr2, synchronous});
}

/// Notes how the kernel lays out vector state in its frames. Every frame is read, because the state grows when the
/// program gets permission for more (arch_prctl(2), ARCH_REQ_XCOMP_PERM). Without XSAVE the kernel does not write the
/// note and its magic number (save_fsave_header() and save_sw_bytes() in arch/x86/kernel/fpu/signal.c).
void remember_vector_layout(Thread& thread, const SignalContext& context) {
    const x86_64::VectorStateFormat& format = thread.engine->vector_state;
    if (format.has_pkru) thread.signals->handler_pkru = x86_64::read_pkru();
    if (context.fpstate == 0 || !format.has_xsave) return;
    const auto& note = *at_address<const x86_64::XstateNote>(context.fpstate + x86_64::kXstateNoteOffset);
    if (note.magic != x86_64::kXstateMagic1) return;
    thread.signals->xstate = note;
    present_vector_layout(thread.engine->run, thread.signals->xstate);
}

/// Makes this handler return to the delivery. The application's registers are in the thread.
void redirect_to_delivery(Thread& thread, UserContext& user) {
    SignalContext& context = user.context;
    thread.stepping = false;
    thread.is_running_in_place = false;
    user.mask = ~kEngineSignals;
    context.rip = thread.deliver;
    context.rdi = address_of(&thread);
    context.rsp = thread.engine_stack - 8;
    context.flags = kInitialFlags;
}

/// Recovers the application's registers and counts: at the first byte of an instruction's translation, or
/// `in_the_middle` of the translation of an instruction that has faulted. False if that instruction has been executed
/// all the same: it is a return whose translation could not write to the stack.
bool recover_registers(Thread& thread, BlockPosition place, const SignalContext& context, bool in_the_middle) {
    thread.registers = registers_of(context);
    const auto paired =
        in_the_middle ? recover_paired(thread, context.rip, place, thread.registers) : x86_64::PairedFault::none;
    if (paired == x86_64::PairedFault::after) return false;
    if (in_the_middle && paired == x86_64::PairedFault::none) restore_spilled(thread, place, thread.registers);
    leave_history(thread, place, thread.registers);
    restore_lent(thread, place, thread.registers);
    uncount_rest(thread, place);
    thread.registers.rip = place.pc;
    if (thread.single_step == SingleStep::no) return true;
    if (place.index == 0 && thread.single_step == SingleStep::resumed) thread.registers.flags |= x86_64::kResumeFlag;
    thread.single_step = place.index == 0 ? SingleStep::no : SingleStep::done;
    return true;
}

/// Makes the thread trap after its next host instruction, with all other signals blocked.
void step(Thread& thread, UserContext& user) {
    thread.stepping = true;
    user.mask = ~kEngineSignals;
    user.context.flags |= kTrapFlag;
}

bool in(std::uint64_t rip, std::uint64_t start, std::uint64_t end) {
    return rip >= start && rip < end;
}

/// The thread is in an arena. Stops it at the start of an instruction's translation, now or after some steps.
void stop_in_code(Thread& thread, UserContext& user) {
    const x86_64::Routines& routines = thread.engine->routines;
    const std::uint64_t rip = user.context.rip;
    if (in(rip, routines.enter, routines.run_in_place_end)) return redirect_to_delivery(thread, user);
    if (in(rip, routines.start, routines.end)) {
        // An exit routine: the engine looks at `pending` before it enters again.
        thread.stepping = false;
        user.mask = ~kEngineSignals;
        user.context.flags &= ~kTrapFlag;
        return;
    }
    Block* const block = thread.engine->cache.block_at_host(rip);
    if (block != nullptr) {
        const BlockPosition place = x86_64::locate(*block, rip);
        if (place.exact) {
            recover_registers(thread, place, user.context, false);
            return redirect_to_delivery(thread, user);
        }
    }
    step(thread, user);
}

/// Finishes a return that has no pad and whose return address could not be stored again (Routines::unpaired_return):
/// another thread has changed the stack's mapping. False if the fault is something else.
bool finish_unpaired_return(Thread& thread, const SignalInfo& info, UserContext& user) {
    if ((info.signo != kSegv && info.signo != kBus) || user.context.rip != thread.engine->routines.unpaired_return)
        return false;
    thread.registers = registers_of(user.context);
    finish_return(thread, thread.registers);
    redirect_to_delivery(thread, user);
    return true;
}

/// Queues a fault in a block as the application's own, at the instruction that raised it.
void fault_in_block(Thread& thread, Block& block, const SignalInfo& info, UserContext& user) {
    const BlockPosition place = x86_64::locate(block, user.context.rip);
    SignalInfo delivered = info;
    if (info.signo == kIll || info.signo == kFpe) delivered.address = place.pc;
    if (info.signo == kSegv && hooks::is_ring_fault(thread, info.address))
        delivered.signo = kBus, delivered.code = kNoAddress;
    if (recover_registers(thread, place, user.context, true)) queue(thread, delivered, user.context, true);
    redirect_to_delivery(thread, user);
}

/// Whether rip is in the routine that runs an instruction in place.
bool is_in_place_routine(const Thread& thread, std::uint64_t rip) {
    return in(rip, thread.engine->routines.run_in_place, thread.engine->routines.run_in_place_end);
}

/// An instruction that runs in place (run_in_place() in dispatch.cpp) has faulted, or has run and the trap flag has
/// raised SIGTRAP.
void after_run_in_place(Thread& thread, const SignalInfo& info, UserContext& user) {
    // If the address is not canonical, the routine's iretq faults, and thread.registers are still valid.
    const Registers before = thread.registers;
    if (!is_in_place_routine(thread, user.context.rip)) thread.registers = registers_of(user.context);
    const bool ran = info.signo == kTrap && info.code == kTrapTrace;
    // A string instruction retires with its last repetition; the earlier ones do not count.
    const bool retired = ran && !(thread.trapped_pc != 0 && thread.registers.rip == thread.in_place_pc);
    if (retired) model_instruction(thread, before);
    if (retired) x86_64::count_instruction(thread, thread.in_place_pc, thread.engine->counting);
    if (retired) note_instruction_ran(thread, thread.in_place_pc);
    if (!ran) queue(thread, info, user.context, true);
    if (ran)
        after_trapped_instruction(thread);
    else
        thread.trapped_pc = 0;
    redirect_to_delivery(thread, user);
}

/// A write fault, perhaps on code that the engine protects. True if the write can be repeated. The faulting thread runs
/// application code or a guarded copy, and holds the cache's lock in neither. But the holder may be flushing the cache
/// and wait for this thread. Then the thread leaves translated code before the write, and repeats it afterwards.
bool handle_code_write(Thread& thread, const SignalInfo& info, UserContext& user) {
    Cache& cache = thread.engine->cache;
    while (!cache.lock.try_lock()) {
        Block* const block = thread.in_cache && __atomic_load_n(&cache.flushing, __ATOMIC_ACQUIRE)
                                 ? cache.block_at_host(user.context.rip)
                                 : nullptr;
        if (block != nullptr) {
            recover_registers(thread, x86_64::locate(*block, user.context.rip), user.context, true);
            redirect_to_delivery(thread, user);
            return true;
        }
        kernel_call(__NR_sched_yield);
    }
    const bool unprotected = unprotect_written_code(*thread.engine, info.address);
    cache.lock.unlock();
    // The write is repeated. If it changes code of the running block, the thread leaves the block after the write.
    Block* const block = unprotected ? cache.block_at_host(user.context.rip) : nullptr;
    if (block != nullptr && block->dead) step(thread, user);
    return unprotected;
}

/// A call or a return has met the end of the thread's list of open calls, or one that is not accessible yet. It is
/// repeated.
bool handle_full_open_calls(Thread& thread, const SignalInfo& info, UserContext& user) {
    if (info.signo != kSegv || !is_on_open_calls(thread, info.address)) return false;
    Block* const block = thread.engine->cache.block_at_host(user.context.rip);
    if (block == nullptr) return false;
    recover_registers(thread, x86_64::locate(*block, user.context.rip), user.context, true);
    thread.open_calls.full = true;
    redirect_to_delivery(thread, user);
    return true;
}

/// Ends a guarded_run(): the engine has read application code, under the cache's lock, and the code can't be read.
/// False if the fault is something else.
bool end_guarded_run(Thread& thread, const SignalInfo& info, SignalContext& context) {
    if (thread.reading.stack == 0 || (info.signo != kSegv && info.signo != kBus) ||
        thread.engine->cache.executable.find(info.address) == nullptr)
        return false;
    thread.reading.fault = info.address;
    context.rsp = thread.reading.stack;
    context.rip = x86_64::guarded_run_fixup();
    return true;
}

/// Whether the kernel has refused the vector state of the application's frame in rt_sigreturn (its label badframe). It
/// had restored the registers by then, which lead to the delivery. So the application gets the SIGSEGV with the
/// registers of its frame.
bool is_refused_frame(const Thread& thread, const SignalInfo& info, const SignalContext& context) {
    constexpr int kByKernel = 0x80;  // SI_KERNEL
    return info.signo == kSegv && info.code == kByKernel && context.rip == thread.deliver;
}

/// A signal that an instruction raised.
void on_fault(Thread& thread, const SignalInfo& info, UserContext& user) {
    SignalContext& context = user.context;
    if (end_guarded_run(thread, info, context) || finish_unpaired_return(thread, info, user)) return;
    if (is_refused_frame(thread, info, context)) {
        queue(thread, info, context, true);
        return redirect_to_delivery(thread, user);
    }
    if (info.signo == kSegv && (context.err & kWriteFault) != 0 && handle_code_write(thread, info, user)) return;
    if (const std::uint64_t failed = x86_64::guarded_fixup(context.rip); failed != 0) {
        context.rip = failed;
        return;
    }
    if (handle_full_open_calls(thread, info, user)) return;
    if (info.signo == kTrap && info.code == kTrapTrace && thread.stepping) return stop_in_code(thread, user);
    if (thread.is_running_in_place) return after_run_in_place(thread, info, user);
    if (info.signo == kTrap && info.code == kTrapTrace && thread.engine->cache.is_translated_code(context.rip)) {
        begin_traps(thread);
        return stop_in_code(thread, user);
    }
    if (Block* const block = thread.engine->cache.block_at_host(context.rip))
        return fault_in_block(thread, *block, info, user);
    Line{}
        .text("anyperf: signal ")
        .decimal(info.signo)
        .text(" code ")
        .decimal(info.code)
        .text(" address ")
        .hex(info.address)
        .text(" at engine offset ")
        .hex(context.rip - own_base())
        .text(", application ")
        .hex(thread.registers.rip)
        .write(2);
    fail("a fault in the engine", thread.registers.rip);
}

/// Brings the thread to the delivery, as the head of this file explains.
void stop(Thread& thread, UserContext& user) {
    thread.pending = 1;
    if (thread.stepping) return;
    const std::uint64_t rip = user.context.rip;
    user.mask = ~kEngineSignals;
    if (interrupt_syscall(thread, user.context)) return;
    if (thread.is_running_in_place && rip == thread.in_place_pc) return redirect_to_delivery(thread, user);
    if (thread.engine->cache.is_translated_code(rip)) stop_in_code(thread, user);
}

/// The kernel reports a page fault that it has handled. If it was the application's, the thread stops before the
/// instruction that faulted, which is repeated afterwards. Faults of translated code on the engine's memory are not
/// counted as the application's.
void on_page_fault(Thread& thread, const SignalInfo& info, UserContext& user) {
    if (thread.page.safepoint_requested != 0) stop(thread, user);  // this signal may have replaced that request
    Block* const block = is_late(info) ? nullptr : thread.engine->cache.block_at_host(user.context.rip);
    if (block == nullptr || thread.page.faults_are_counted == 0) return;
    if (own_pages.touches(info.address, info.address + 1)) {
        ++thread.faults_at_entry[0];
        return;
    }
    thread.page_faulted = true;
    thread.faulted_address = info.address;
    recover_registers(thread, x86_64::locate(*block, user.context.rip), user.context, true);
    redirect_to_delivery(thread, user);
}

/// A signal that no instruction has raised: from outside, or one that the engine uses itself. `to_thread`: it was sent
/// to this thread, although its code does not show that.
void on_asynchronous(Thread& thread, const SignalInfo& info, UserContext& user, bool to_thread) {
    if (is_fault_trap(info)) return on_page_fault(thread, info, user);
    if (is_tracee_stop(info)) return forget_tracer(thread);
    if (StoppedSignal::is(info)) {
        // The kernel would restart the call of a signal that has no handler.
        restart_interrupted_syscall(thread, user.context);
        if (StoppedSignal::is_interrupt(info))
            request_interrupt(thread);
        else
            queue(thread, StoppedSignal::unpacked(info), user.context, false);
        return stop(thread, user);
    }
    if (is_safepoint_request(info)) {  // never delivered to the application
        const bool is_expected = thread.page.safepoint_requested != 0 || (thread.exit_requested && thread.in_cache) ||
                                 turns::is_asked_to_share(thread);
        if (!is_expected) return;
        restart_interrupted_syscall(thread, user.context);
        return stop(thread, user);
    }
    if (is_alarm(info)) {
        thread.alarmed = true;
        restart_interrupted_syscall(thread, user.context);
        if (!is_in_syscall(user.context)) stop(thread, user);  // else it is served when the call has ended
        return;
    }
    // kAlwaysCaughtSignals come here even if the application ignores them, and kEngineSignals even if it blocks them.
    // In the kernel, neither would interrupt a call. The SIGTRAP of an event is sent, not forced, so it is dropped like
    // these if it is ignored (send_sig_perf() of Linux 6.18).
    const SignalState& signals = *thread.signals;
    const bool is_blocked = (signals.mask & signal_bit(info.signo)) != 0;
    const bool is_ignored = (signals.actions->ignored() & signal_bit(info.signo)) != 0;
    if (is_blocked || is_ignored) restart_interrupted_syscall(thread, user.context);
    if (is_blocked && is_for_process(info, to_thread) && thread.engine->turns == nullptr) {
        thread.engine->process_signals.put(info, thread.page.pid);
        return stop(thread, user);  // the delivery finds a thread that wants it
    }
    if (is_blocked || !is_ignored) queue(thread, info, user.context, false);
    if (!is_blocked && !is_ignored) stop(thread, user);
}

}  // namespace

}  // namespace anyperf::engine

extern "C" {

void signal_entry(int, anyperf::engine::x86_64::SignalInfo* info, anyperf::engine::x86_64::UserContext* user) {
    using namespace anyperf::engine;
    Thread& thread = x86_64::this_thread();
    const bool to_thread = info->code == anyperf::run::kToThreadCode;
    if (to_thread || info->code == anyperf::run::kOtherProcessCode) {  // the real code is in si_errno
        restore_code(*info);
    }
    remember_vector_layout(thread, user->context);
    if (is_fault(*info) && !is_after_own_syscall(user->context))
        on_fault(thread, *info, *user);
    else
        on_asynchronous(thread, *info, *user, to_thread);
}

[[gnu::naked]] void signal_return() {
    asm("mov $15, %eax\n\t"  // rt_sigreturn
        "syscall");
}
}
