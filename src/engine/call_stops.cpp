#include "engine/call_stops.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>

#include "engine/signals/engine_signals.h"
#include "engine/signals/interruptible.h"
#include "engine/turns/turns.h"

namespace anyperf::engine {

namespace {

using x86_64::Registers;

constexpr std::uint64_t kNoCall = ~std::uint64_t{0};
constexpr long kInterrupted = -512;  // ERESTARTSYS, which only tracers see: the call may be made again

/// The flags that a tracer may set (FLAG_MASK in arch/x86/kernel/ptrace.c) without TF, NT and RF: AC, OF, DF, SF, ZF,
/// AF, PF, CF.
constexpr std::uint64_t kSettableFlags = 0x40cd5;

void clear_state(const Thread& thread, std::uint32_t bits) {
    std::uint32_t* const state = trace_state_of(*thread.engine, thread.page_number);
    if (state != nullptr) __atomic_fetch_and(state, ~bits, __ATOMIC_RELAXED);
}

/// Lets SIGTRAP through: it is blocked while a program starts.
class TrapUnblocked {
  public:
    TrapUnblocked() {
        constexpr unsigned kUnblock = 1;
        const std::uint64_t trap = signal_bit(kTrap);
        kernel_call(__NR_rt_sigprocmask, kUnblock, address_of(&trap), address_of(&before_), sizeof trap);
    }
    ~TrapUnblocked() {
        constexpr unsigned kSetMask = 2;
        kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&before_), 0, sizeof before_);
    }
    TrapUnblocked(const TrapUnblocked&) = delete;
    TrapUnblocked& operator=(const TrapUnblocked&) = delete;

  private:
    std::uint64_t before_ = 0;
};

/// Makes the kernel stop the thread for its tracer. A SIGTRAP that is pending at that moment makes the kernel drop this
/// one, so it is sent again until the tracer has seen it.
void stop(Thread& thread, CallStop& stop) {
    constexpr int kAttempts = 100;
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = run::kCallStopCode;
    const std::uint64_t value = address_of(&stop);
    __builtin_memcpy(info.rest, &value, sizeof value);
    const TrapUnblocked unblocked;
    const auto process = static_cast<std::uint64_t>(kernel_call(__NR_getpid));
    const auto task = static_cast<std::uint64_t>(kernel_call(__NR_gettid));
    for (int i = 0; i < kAttempts; ++i) {
        if (!is_traced(thread, run::trace::kAtCalls)) return;
        kernel_call(__NR_rt_tgsigqueueinfo, process, task, static_cast<unsigned>(kTrap), address_of(&info));
        if (__atomic_load_n(&stop.seen, __ATOMIC_ACQUIRE) != 0) return;
    }
    forget_tracer(thread);
}

std::uint64_t fs_base() {
    std::uint64_t base = 0;
    kernel_call(__NR_arch_prctl, ARCH_GET_FS, address_of(&base));
    return base;
}

/// The application's registers at a stop. `at_call`: rcx and r11 are as SYSCALL leaves them (SDM volume 2).
TracedRegisters show(const Thread& thread, std::uint64_t call, std::uint64_t result, bool at_call) {
    using namespace x86_64;
    const Registers& from = thread.registers;
    const auto& r = from.r;
    TracedRegisters shown{};
    shown.r15 = r[r15], shown.r14 = r[r14], shown.r13 = r[r13], shown.r12 = r[r12];
    shown.r11 = at_call ? from.flags : r[r11];
    shown.r10 = r[r10], shown.r9 = r[r9], shown.r8 = r[r8];
    shown.rbp = r[rbp], shown.rbx = r[rbx], shown.rdx = r[rdx], shown.rsi = r[rsi], shown.rdi = r[rdi];
    shown.rcx = at_call ? from.rip : r[rcx];
    shown.rax = result;
    shown.rsp = r[rsp];
    shown.call = call;
    shown.rip = from.rip;
    shown.flags = from.flags;
    shown.cs = kUserCs, shown.ss = kUserSs;
    shown.fs_base = fs_base();
    shown.gs_base = thread.gs_base;
    return shown;
}

/// Makes the registers of the application what the tracer has left. rax is the caller's matter.
void take(Thread& thread, const TracedRegisters& before, const TracedRegisters& after) {
    using namespace x86_64;
    Registers& to = thread.registers;
    auto& r = to.r;
    r[r15] = after.r15, r[r14] = after.r14, r[r13] = after.r13, r[r12] = after.r12;
    r[r11] = after.r11, r[r10] = after.r10, r[r9] = after.r9, r[r8] = after.r8;
    r[rbp] = after.rbp, r[rbx] = after.rbx, r[rdx] = after.rdx, r[rsi] = after.rsi, r[rdi] = after.rdi;
    r[rcx] = after.rcx, r[rsp] = after.rsp;
    to.rip = after.rip;
    to.flags = (to.flags & ~kSettableFlags) | (after.flags & kSettableFlags);
    if (after.fs_base != before.fs_base) kernel_call(__NR_arch_prctl, ARCH_SET_FS, after.fs_base);
    if (after.gs_base != before.gs_base) set_gs_base(thread, after.gs_base);
}

/// Stops the thread with these registers and takes what the tracer has left. Returns rax and the number of the call.
struct Left {
    std::uint64_t result;
    std::uint64_t call;
};
Left stop_with(Thread& thread, CallStop::Where where, const TracedRegisters& shown) {
    CallStop at{where, 0, shown};
    const bool has_turn = turns::on(*thread.engine);
    if (has_turn) turns::begin_stop(thread);
    stop(thread, at);
    if (has_turn) turns::come_back(thread);
    take(thread, shown, at.registers);
    return {at.registers.rax, at.registers.call};
}

/// Whether the end of the call is a stop. The thread is no longer in a call afterwards.
bool ends_call(const Thread& thread) {
    const bool wanted = is_traced(thread, run::trace::kAtCalls) && is_traced(thread, run::trace::kInCall);
    clear_state(thread, run::trace::kInCall);
    return wanted;
}

}  // namespace

void begin_trace_state(const Thread& parent, std::uint32_t page) {
    std::uint32_t* const state = trace_state_of(*parent.engine, page);
    if (state == nullptr) return;
    const std::uint32_t marked = is_traced(parent, run::trace::kMarked) ? run::trace::kMarked : 0;
    __atomic_store_n(state, marked, __ATOMIC_RELAXED);
}

bool stop_before_call(Thread& thread, std::uint64_t& number, std::uint64_t (&argument)[6], long& answer) {
    using namespace x86_64;
    __atomic_fetch_or(trace_state_of(*thread.engine, thread.page_number), run::trace::kInCall, __ATOMIC_RELAXED);
    // The kernel shows ENOSYS as the result of a call that has not been made (syscall_enter_from_user_mode()).
    const auto none = static_cast<std::uint64_t>(long{-ENOSYS});
    const Left left = stop_with(thread, CallStop::before_call, show(thread, number, none, true));
    number = left.call;
    const auto& r = thread.registers.r;
    const std::uint64_t arguments[6] = {r[rdi], r[rsi], r[rdx], r[r10], r[r8], r[r9]};
    __builtin_memcpy(argument, arguments, sizeof argument);
    answer = static_cast<long>(left.result);
    return static_cast<std::int32_t>(number) == -1;
}

long stop_after_call(Thread& thread, std::uint64_t number, long answer) {
    if (!ends_call(thread)) return answer;
    const auto shown = static_cast<std::uint64_t>(answer == kRestartSyscall ? kInterrupted : answer);
    const Left left = stop_with(thread, CallStop::after_call, show(thread, number, shown, true));
    return left.result == shown ? answer : static_cast<long>(left.result);
}

void stop_after_return(Thread& thread) {
    if (!ends_call(thread)) return;
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    rax = stop_with(thread, CallStop::after_call, show(thread, kNoCall, rax, false)).result;
}

void stop_after_exec(Thread& thread) {
    if (!ends_call(thread)) return;
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    rax = stop_with(thread, CallStop::after_call, show(thread, __NR_execve, rax, false)).result;
}

void forget_tracer(const Thread& thread) {
    clear_state(thread, ~std::uint32_t{0});
}

}  // namespace anyperf::engine
