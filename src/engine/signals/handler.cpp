// handler.cpp: see handler.h.
#include "engine/signals/handler.h"

#include <asm/unistd.h>

#include "engine/attached.h"
#include "engine/fail.h"
#include "engine/freestanding/text.h"
#include "engine/memory/changed_code.h"
#include "engine/signals/deliver.h"
#include "engine/signals/own_signals.h"
#include "engine/signals/state.h"
#include "engine/syscalls/interruptible.h"
#include "engine/x86_64/guarded_copy.h"
#include "engine/x86_64/recover.h"

extern "C" const char __ehdr_start __attribute__((visibility("hidden")));

namespace anyperf::engine {

using x86_64::Place;
using x86_64::Registers;
using x86_64::SignalContext;
using x86_64::SignalInfo;
using x86_64::UserContext;

namespace {

constexpr int kIll = 4;
constexpr int kBus = 7;
constexpr int kFpe = 8;
constexpr int kNoSuch = 2;  // BUS_ADRERR
constexpr std::uint64_t kTrapFlag = 0x100;
constexpr std::uint64_t kWriteFault = 2;  // page fault error code (SDM volume 3, 4.7)

bool is_fault(const SignalInfo& info) {
    const bool fault_signal =
        info.signo == kIll || info.signo == kTrap || info.signo == kBus || info.signo == kFpe || info.signo == kSegv;
    const bool by_event = info.signo == kTrap && info.code == kTrapPerf;
    return fault_signal && !by_event &&
           info.code > 0;  // kill(2) and its like have codes of 0 and below: asynchronous, whatever the number
}

/// Where the engine comes back from a system call nothing faults: the thread has sent itself what looks like a fault.
/// The instruction leaves its return address in rcx (SDM, SYSCALL).
bool behind_own_syscall(const SignalContext& context) {
    return context.rcx == context.rip && is_own_code(context.rip);
}

Registers registers_of(const SignalContext& c) {
    return {
        {c.rax, c.rcx, c.rdx, c.rbx, c.rsp, c.rbp, c.rsi, c.rdi, c.r8, c.r9, c.r10, c.r11, c.r12, c.r13, c.r14, c.r15},
        c.rip,
        c.flags & ~kTrapFlag};
}

void queue(Thread& thread, const SignalInfo& info, const SignalContext& context, bool synchronous) {
    SignalState& signals = *thread.signals;
    if (signals.queued == SignalState::kQueue)
        return;  // more of the engine's signals sent than one can keep: as any that is pending
    QueuedSignal& signal = signals.queue[signals.queued++];
    signal = {info, context.err, context.trapno, context.cr2, synchronous};
}

/// Of each signal: it grows when the program is allowed more state (arch_prctl(2), ARCH_REQ_XCOMP_PERM).
void note_xstate(Thread& thread, const SignalContext& context) {
    if (context.fpstate == 0) return;
    thread.signals->xstate = *at_address<const x86_64::XstateNote>(context.fpstate + x86_64::kXstateNoteOffset);
}

/// The handler's return goes to the delivery, with the application's registers in the thread.
void go_to_delivery(Thread& thread, UserContext& user) {
    SignalContext& context = user.context;
    thread.stepping = false;
    thread.is_probing = false;
    user.mask = ~kEngineSignals;
    context.rip = reinterpret_cast<std::uint64_t>(&deliver_and_resume);
    context.rdi = address_of(&thread);
    context.rsp = thread.engine_stack - 8;
    context.flags = 0x202;
}

/// At an instruction's first byte in a block, or in the middle of one that has faulted: the application's registers.
void take_registers(Thread& thread, const Place& place, const SignalContext& context, bool in_the_middle) {
    thread.registers = registers_of(context);
    if (in_the_middle) give_back_spilled(thread, place, thread.registers);
    uncount_rest(thread, place);
    thread.registers.rip = place.pc;
    if (thread.alone == Alone::no) return;
    if (place.index == 0 && thread.alone == Alone::resumed) thread.registers.flags |= x86_64::kResumeFlag;
    thread.alone = place.index == 0 ? Alone::no : Alone::done;
}

void step(Thread& thread, UserContext& user) {
    thread.stepping = true;
    user.mask = ~kEngineSignals;
    user.context.flags |= kTrapFlag;
}

bool in(std::uint64_t rip, std::uint64_t start, std::uint64_t end) {
    return rip >= start && rip < end;
}

/// The thread is in translated code: stops it at an instruction's start, at once or after some steps.
void stop_in_code(Thread& thread, UserContext& user) {
    const x86_64::Routines& routines = thread.engine->routines;
    const std::uint64_t rip = user.context.rip;
    if (in(rip, routines.enter, routines.probe_end)) return go_to_delivery(thread, user);
    if (in(rip, routines.start, routines.end)) {  // a leave: the engine looks before it enters again
        thread.stepping = false;
        user.mask = ~kEngineSignals;
        user.context.flags &= ~kTrapFlag;
        return;
    }
    Block* const block = thread.engine->cache.holding(rip);
    if (block != nullptr) {
        const Place place = x86_64::locate(*block, rip);
        if (place.exact) {
            take_registers(thread, place, user.context, false);
            return go_to_delivery(thread, user);
        }
    }
    step(thread, user);
}

/// What a fault in a block is to the application.
void fault_in_block(Thread& thread, Block& block, const SignalInfo& info, UserContext& user) {
    const Place place = x86_64::locate(block, user.context.rip);
    SignalInfo told = info;
    if (info.signo == kIll || info.signo == kFpe) told.address = place.pc;
    if (info.signo == kSegv && attached::faulted_on_ring(thread, info.address)) told.signo = kBus, told.code = kNoSuch;
    take_registers(thread, place, user.context, true);
    queue(thread, told, user.context, true);
    go_to_delivery(thread, user);
}

bool is_own_routine(const Thread& thread, std::uint64_t rip) {
    return in(rip, thread.engine->routines.probe, thread.engine->routines.probe_end);
}

/// The CPU was sent to an instruction in place: it has faulted there, or run it, which the trap flag tells.
void probed(Thread& thread, const SignalInfo& info, UserContext& user) {
    // No address of this CPU: it has not even gone there, and the thread's registers are as they were.
    if (!is_own_routine(thread, user.context.rip)) thread.registers = registers_of(user.context);
    const bool ran = info.signo == kTrap && info.code == kTrapTrace;
    if (ran) x86_64::count_one(thread, thread.probing, thread.engine->counting.open);
    if (!ran) queue(thread, info, user.context, true);
    go_to_delivery(thread, user);
}

/// A write to a page that the engine protects. True where that is mended, or will be. The faulting thread runs
/// application code or a guarded copy, neither of which has the lock; but who has it may be waiting for this thread to
/// leave translated code, so that it leaves, and does the write again afterwards.
bool wrote_code(Thread& thread, const SignalInfo& info, UserContext& user) {
    Cache& cache = thread.engine->cache;
    while (!cache.lock.try_take()) {
        Block* const block = thread.inside && __atomic_load_n(&cache.flushing, __ATOMIC_ACQUIRE)
                                 ? cache.holding(user.context.rip)
                                 : nullptr;
        if (block != nullptr) {
            take_registers(thread, x86_64::locate(*block, user.context.rip), user.context, true);
            go_to_delivery(thread, user);
            return true;
        }
        kernel_call(__NR_sched_yield);
    }
    const bool opened = open_written_code(*thread.engine, info.address);
    cache.lock.leave();
    // The write goes on; where it was to code of the running block, what follows is to be translated anew.
    Block* const block = opened ? cache.holding(user.context.rip) : nullptr;
    if (block != nullptr && block->dead) step(thread, user);
    return opened;
}

/// Application code that the engine reads, holding the lock, can't be read.
bool read_no_code(Thread& thread, const SignalInfo& info, SignalContext& context) {
    if (thread.reading.stack == 0 || (info.signo != kSegv && info.signo != kBus) ||
        thread.engine->cache.executable.find(info.address) == nullptr)
        return false;
    thread.reading.fault = info.address;
    context.rsp = thread.reading.stack;
    context.rip = x86_64::guarded_run_exit();
    return true;
}

void on_fault(Thread& thread, const SignalInfo& info, UserContext& user) {
    SignalContext& context = user.context;
    if (read_no_code(thread, info, context)) return;
    if (info.signo == kSegv && (context.err & kWriteFault) != 0 && wrote_code(thread, info, user)) return;
    if (const std::uint64_t failed = x86_64::guarded_exit(context.rip); failed != 0) {
        context.rip = failed;
        return;
    }
    if (info.signo == kTrap && info.code == kTrapTrace && thread.stepping) return stop_in_code(thread, user);
    if (thread.is_probing) return probed(thread, info, user);
    if (Block* const block = thread.engine->cache.holding(context.rip))
        return fault_in_block(thread, *block, info, user);
    Line{}
        .text("anyperf: signal ")
        .decimal(info.signo)
        .text(" code ")
        .decimal(info.code)
        .text(" address ")
        .hex(info.address)
        .text(" behind engine offset ")
        .hex(context.rip - reinterpret_cast<std::uint64_t>(&__ehdr_start))
        .text(", application ")
        .hex(thread.registers.rip)
        .write(2);
    fail("a fault in the engine", thread.registers.rip);
}

/// Stops the thread for what is pending: at the next instruction's start, or where the engine looks before it goes on.
void stop(Thread& thread, UserContext& user) {
    thread.pending = 1;
    if (thread.stepping) return;
    const std::uint64_t rip = user.context.rip;
    user.mask = ~kEngineSignals;
    if (leave_syscall(thread, user.context)) return;
    if (thread.is_probing && rip == thread.probing) return go_to_delivery(thread, user);
    if (thread.engine->cache.is_translated_code(rip)) stop_in_code(thread, user);
}

void on_asynchronous(Thread& thread, const SignalInfo& info, UserContext& user) {
    if (is_attention(info)) {  // the application sees nothing of it
        if (thread.page.attention == 0 && !(thread.asked_out && thread.inside)) return;
        begin_syscall_again(thread, user.context);
        return stop(thread, user);
    }
    if (is_alarm(info)) {
        thread.alarmed = true;
        begin_syscall_again(thread, user.context);
        if (!is_in_syscall(user.context)) stop(thread, user);  // else it looks when the call has ended
        return;
    }
    SignalState& signals = *thread.signals;
    // An event's SIGTRAP too is sent, not forced: ignored it is dropped (send_sig_perf() of Linux 6.18).
    queue(thread, info, user.context, false);
    if ((signals.mask & signal_bit(info.signo)) != 0) return;  // one of the engine's own, kept until it is unblocked
    stop(thread, user);
}

}  // namespace

}  // namespace anyperf::engine

extern "C" {

void signal_entry(int, anyperf::engine::x86_64::SignalInfo* info, anyperf::engine::x86_64::UserContext* user) {
    using namespace anyperf::engine;
    Thread& thread = x86_64::this_thread();
    if (info->code == kOtherProcessCode) {
        info->code = info->error;
        info->error = 0;
    }
    note_xstate(thread, user->context);
    if (is_fault(*info) && !behind_own_syscall(user->context))
        on_fault(thread, *info, *user);
    else
        on_asynchronous(thread, *info, *user);
}

[[gnu::naked]] void signal_return() {
    asm("mov $15, %eax\n\t"
        "syscall");
}
}
