#include "engine/tracee_stops.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>

#include "engine/hooks.h"
#include "engine/signals/engine_signals.h"
#include "engine/signals/interruptible.h"
#include "engine/turns/turns.h"

namespace anyperf::engine {

namespace {

using x86_64::Registers;

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
void stop_thread(Thread& thread, TraceeStop& stop, std::uint32_t bits) {
    constexpr int kAttempts = 100;
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = run::kTraceeStopCode;
    const std::uint64_t value = address_of(&stop);
    __builtin_memcpy(info.rest, &value, sizeof value);
    const TrapUnblocked unblocked;
    const auto process = static_cast<std::uint64_t>(kernel_call(__NR_getpid));
    const auto task = static_cast<std::uint64_t>(kernel_call(__NR_gettid));
    for (int i = 0; i < kAttempts; ++i) {
        if (!is_traced(thread, bits)) return;
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

/// Stops the thread at a call. Returns rax and the number of the call, as the tracer leaves them.
struct Left {
    std::uint64_t result;
    std::uint64_t call;
};
Left stop_at_call(Thread& thread, TraceeStop::Where where, const TracedRegisters& shown) {
    TraceeStop at{.where = where, .registers = shown};
    stop_with(thread, at, run::trace::kAtCalls);
    after_stop(thread, at);
    return {at.registers.rax, at.registers.call};
}

/// Whether the end of the call is a stop. The thread is no longer in a call afterwards.
bool ends_call(const Thread& thread) {
    const bool wanted = is_traced(thread, run::trace::kAtCalls) && is_traced(thread, run::trace::kInCall);
    clear_state(thread, run::trace::kInCall);
    return wanted;
}

void change_state(const Thread& thread, std::uint32_t bits, bool on) {
    std::uint32_t* const state = trace_state_of(*thread.engine, thread.page_number);
    if (state == nullptr) return;
    on ? __atomic_fetch_or(state, bits, __ATOMIC_RELAXED) : __atomic_fetch_and(state, ~bits, __ATOMIC_RELAXED);
}

/// The signal that the tracer sends instead: as from kill(2) by the tracer (ptrace_signal() in kernel/signal.c). Of a
/// thread that has been attached to, the parent is named.
x86_64::SignalInfo replaced_signal(std::uint32_t number) {
    x86_64::SignalInfo info{};
    info.signo = static_cast<std::int32_t>(number);
    info.address = static_cast<std::uint32_t>(kernel_call(__NR_getppid)) |
                   static_cast<std::uint64_t>(kernel_call(__NR_getuid)) << 32;  // si_pid and si_uid
    return info;
}

void forget_translations(Engine& engine) {
    constexpr std::uint64_t kEnd = std::uint64_t{1} << 56;
    const LockGuard held{engine.cache.lock};
    engine.cache.remove_all();
    engine.cache.executable.set_unstored(0, kEnd);
    ++engine.exact.epoch;
}

}  // namespace

void put_registers(const Registers& from, TracedRegisters& to) {
    using namespace x86_64;
    const auto& r = from.r;
    to.r15 = r[r15], to.r14 = r[r14], to.r13 = r[r13], to.r12 = r[r12];
    to.r11 = r[r11], to.r10 = r[r10], to.r9 = r[r9], to.r8 = r[r8];
    to.rbp = r[rbp], to.rbx = r[rbx], to.rdx = r[rdx], to.rsi = r[rsi], to.rdi = r[rdi];
    to.rcx = r[rcx], to.rax = r[rax], to.rsp = r[rsp];
    to.call = kNoCall;
    to.rip = from.rip;
    to.flags = from.flags;
    to.cs = kUserCs, to.ss = kUserSs;
}

TracedRegisters shown_registers(const Thread& thread, std::uint64_t call, std::uint64_t result, bool at_call) {
    TracedRegisters shown{};
    put_registers(thread.registers, shown);
    if (at_call) shown.rcx = shown.rip, shown.r11 = shown.flags;
    shown.rax = result;
    shown.call = call;
    shown.fs_base = fs_base();
    shown.gs_base = thread.gs_base;
    return shown;
}

void stop_with(Thread& thread, TraceeStop& stop, std::uint32_t bits) {
    const TracedRegisters shown = stop.registers;
    end_step(thread);
    const bool has_turn = turns::on(*thread.engine);
    if (has_turn) turns::begin_stop(thread);
    stop_thread(thread, stop, bits);
    if (has_turn) turns::come_back(thread);
    take(thread, shown, stop.registers);
}

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
    const Left left = stop_at_call(thread, TraceeStop::before_call, shown_registers(thread, number, none, true));
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
    const Left left = stop_at_call(thread, TraceeStop::after_call, shown_registers(thread, number, shown, true));
    return left.result == shown ? answer : static_cast<long>(left.result);
}

void stop_after_return(Thread& thread) {
    if (!ends_call(thread)) return;
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    rax = stop_at_call(thread, TraceeStop::after_call, shown_registers(thread, kNoCall, rax, false)).result;
}

void stop_after_exec(Thread& thread) {
    if (!ends_call(thread)) return;
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    rax = stop_at_call(thread, TraceeStop::after_call, shown_registers(thread, __NR_execve, rax, false)).result;
}

void forget_tracer(const Thread& thread) {
    clear_state(thread, ~std::uint32_t{0});
}

void after_stop(Thread& thread, const TraceeStop& stop) {
    change_state(thread, run::trace::kSteps, stop.steps != 0);
    change_state(thread, run::trace::kOwnTrapFlag, stop.steps != 0 && thread.traps_each);
    if (stop.steps != 0) thread.traps_each = true;
    if (stop.debugged != 0) forget_translations(*thread.engine);
    follow_debug_registers(thread);
}

void follow_debug_registers(Thread& thread) {
    if (thread.debug.changed == 0) return;
    thread.debug.changed = 0;
    clear_state(thread, run::trace::kDebugChanged);
    hooks::serve_safepoint_request(thread);
}

bool stop_for_signal(Thread& thread, QueuedSignal& signal) {
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    TraceeStop at{.where = TraceeStop::at_signal,
                  .signal = static_cast<std::uint32_t>(signal.info.signo),
                  .registers = shown_registers(thread, kNoCall, rax, false),
                  .info = signal.info};
    stop_with(thread, at, run::trace::kAtSignals);
    rax = at.registers.rax;
    after_stop(thread, at);
    if (at.signal == static_cast<std::uint32_t>(signal.info.signo)) {
        signal.info = at.info;
    } else if (at.signal != 0) {
        signal = {.info = replaced_signal(at.signal)};
    }
    return at.signal != 0;
}

void request_interrupt(const Thread& thread) {
    change_state(thread, run::trace::kInterrupted, true);
}

void stop_if_interrupted(Thread& thread) {
    if (!is_traced(thread, run::trace::kInterrupted)) [[likely]]
        return;
    clear_state(thread, run::trace::kInterrupted);
    std::uint64_t& rax = thread.registers.r[x86_64::rax];
    TraceeStop at{.where = TraceeStop::interrupted, .registers = shown_registers(thread, kNoCall, rax, false)};
    stop_with(thread, at, run::trace::kAtSignals);
    rax = at.registers.rax;
    after_stop(thread, at);
}

void keep_trap_flag(const Thread& thread, bool set) {
    change_state(thread, run::trace::kOwnTrapFlag, set);
}

void announce_passed_signal(const Thread& thread) {
    if (is_traced(thread, run::trace::kAtSignals)) change_state(thread, run::trace::kHasPassed, true);
}

}  // namespace anyperf::engine
