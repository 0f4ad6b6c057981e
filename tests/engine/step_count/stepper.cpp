#include "step_count/stepper.h"

#include <asm/unistd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>

namespace anyperf::step_count {

namespace {

constexpr std::uint64_t kTrapFlag = 0x100;
constexpr int kSyscallBytes = 2;

/// Whether the result is ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND or ERESTART_RESTARTBLOCK (Linux
/// include/linux/errno.h), which only a tracer sees.
bool is_restarting_syscall(const user_regs_struct& registers) {
    const auto result = static_cast<std::int64_t>(registers.rax);
    return static_cast<std::int64_t>(registers.orig_rax) >= 0 &&
           (result == -512 || result == -513 || result == -514 || result == -516);
}

bool is_group_stop(int signal) {
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

int Stepper::run(char* const arguments[]) {
    const pid_t first = tracee::start(arguments);
    first_ = first;
    live_[first];
    int first_status = 0;
    while (!live_.empty()) {
        int status = 0;
        const pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0) break;
        if (WIFSTOPPED(status)) {
            on_stop(tid, status);
            continue;
        }
        retire_syscall(tid);  // after SIGKILL there was no PTRACE_EVENT_EXIT
        live_.erase(tid);
        if (const auto found = processes_.find(tid); found != processes_.end()) found->second.status = status;
        if (tid == first) first_status = status;
    }
    return first_status;
}

void Stepper::on_stop(pid_t tid, int status) {
    const int signal = WSTOPSIG(status);
    switch (status >> 16) {
        case PTRACE_EVENT_EXIT: return on_exit_event(tid);
        case PTRACE_EVENT_EXEC: return on_exec_event(tid);
        case PTRACE_EVENT_FORK:
        case PTRACE_EVENT_VFORK:
        case PTRACE_EVENT_CLONE:
            if (callers_ != nullptr && status >> 16 != PTRACE_EVENT_CLONE)
                callers_->copy(tid, static_cast<pid_t>(tracee::event_message(tid)));
            tracee::step(tid, 0);  // still inside the call
            return;
        case PTRACE_EVENT_STOP:
            if (is_group_stop(signal))  // the pending instruction stays pending: the task has not moved
                tracee::listen(tid);
            else
                resume(tid, 0);
            return;
        default: break;
    }
    if (signal == SIGTRAP) return on_trap(tid);
    live_[tid].pending.reset();
    resume(tid, signal);
}

void Stepper::on_trap(pid_t tid) {
    const siginfo_t info = tracee::signal_info(tid);
    auto& pending = live_[tid].pending;
    user_regs_struct after{};
    if (!tracee::registers(tid, after)) return;
    if (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT) {
        if (pending) retire(tid, after);
        return step_from(tid, after, 0);
    }
    pending.reset();
    if (info.si_code == SIGTRAP) {  // a signal handler's frame was built
        tracee::unblock_trap(tid);
        if (callers_ != nullptr) callers_->enter_handler(tid, live_[tid].seen, after);
        return resume(tid, 0);
    }
    resume(tid, SIGTRAP);  // int3, or a SIGTRAP that was sent
}

void Stepper::on_exit_event(pid_t tid) {
    retire_syscall(tid);
    Task& exiting = task(tid);
    exiting.comm = tracee::comm(tid);
    if (exiting.process == tid && started_) {
        processes_[tid].comm = exiting.comm;
        processes_[tid].executable = tracee::executable(tid);
    }
    tracee::resume(tid, 0);
}

void Stepper::on_exec_event(pid_t tid) {
    const auto former = static_cast<pid_t>(tracee::event_message(tid));
    if (started_) retire_syscall(former);
    if (former != tid) live_.erase(former);
    started_ = true;
    live_[tid].pending.reset();
    if (callers_ != nullptr) callers_->forget(tid);
    processes_[tid].executable = tracee::executable(tid);
    tracee::step(tid, 0);  // traps at the end of execve, before the new program's first instruction
}

void Stepper::retire_syscall(pid_t tid) {
    auto& pending = live_[tid].pending;
    if (pending && pending->instruction.step == Step::syscall && !pending->counted)
        count(tid, pending->instruction, pending->before), feed_models(tid, *pending, 0);
    pending.reset();
}

/// An instruction has retired, or an iteration of a REP.
void Stepper::feed_models(pid_t tid, const Pending& done, std::uint64_t next) {
    if (models_ == nullptr || tid != first_ || done.instruction.length == 0) return;
    const auto bytes = tracee::code(tid, done.before.rip);
    const Classified& instruction = done.instruction;
    const std::uint64_t rcx = instruction.address_width == 32 ? done.before.rcx & 0xffffffff : done.before.rcx;
    models_->retire({.bytes = bytes.readable().first(instruction.length),
                     .before = done.before,
                     .next = next,
                     .taken = instruction.step == Step::conditional && is_taken(instruction, done.before),
                     .is_first = !done.iterated,
                     .accesses = instruction.step != Step::repeated || rcx != 0});
}

void Stepper::retire(pid_t tid, const user_regs_struct& after) {
    auto& pending = live_[tid].pending;
    const Pending done = *pending;
    if (!done.counted) feed_models(tid, done, after.rip);
    if (done.instruction.step == Step::repeated && after.rip == done.before.rip) {  // more iterations
        pending->before = after;
        pending->iterated = true;
        return;
    }
    pending.reset();
    if (!done.counted) count(tid, done.instruction, done.before);
    if (!done.counted && callers_ != nullptr) callers_->retire(tid, done.instruction, done.before, after);
    switch (done.instruction.step) {
        case Step::pushes_flags: tracee::clear_bits(tid, after.rsp, kTrapFlag); break;
        case Step::loads_ss: retire_next(tid, done, after); break;
        case Step::cpuid:
            if (after.rip != done.before.rip + done.instruction.length) retire_next(tid, done, after);
            break;
        case Step::syscall:
            // The instruction leaves the flags in r11, with the stepper's trap flag. After rt_sigreturn(2) r11 is the
            // interrupted code's own.
            if (done.before.rax != __NR_rt_sigreturn && (after.r11 & kTrapFlag)) {
                user_regs_struct shown = after;
                shown.r11 &= ~kTrapFlag;
                tracee::set_registers(tid, shown);
            }
            break;
        default: break;
    }
}

/// The trap came one instruction late: what follows `done` has retired, too.
void Stepper::retire_next(pid_t tid, const Pending& done, const user_regs_struct& after) {
    user_regs_struct between = done.before;
    between.rip += done.instruction.length;
    const Pending next{.before = between, .instruction = classify_at(tid, between.rip)};
    count(tid, next.instruction, between);
    if (callers_ != nullptr) callers_->retire(tid, next.instruction, between, after);
    feed_models(tid, next, after.rip);
}

void Stepper::count(pid_t tid, const Classified& instruction, const user_regs_struct& before) {
    Live& live = live_[tid];
    if (window_) {
        if (before.rip == window_->start) live.in_window = true;
        if (before.rip == window_->end) live.in_window = false;
        if (!live.in_window) return;
    }
    ClassSet classes = instruction.classes;
    if (instruction.step == Step::conditional && is_taken(instruction, before))
        classes |= engine::x86_64::bit(Class::taken);
    Counts& counts = task(tid).counts;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += engine::x86_64::amount_of(classes, i);
    if (!trace_) return;
    const auto bytes = tracee::code(tid, before.rip);
    *trace_ << tid << ' ' << std::hex << before.rip << std::dec << ' ' << disassemble(bytes.readable(), before.rip)
            << '\n';
}

void Stepper::resume(pid_t tid, int signal) {
    if (!started_) {  // the child before its execve
        tracee::resume(tid, signal);
        return;
    }
    user_regs_struct now{};
    if (tracee::registers(tid, now)) step_from(tid, now, signal);
}

void Stepper::step_from(pid_t tid, const user_regs_struct& now, int signal) {
    Live& live = live_[tid];
    task(tid);
    live.seen = now;
    if (callers_ != nullptr && signal == 0) callers_->resume(tid, now.rip);
    if (!live.pending) {
        live.pending = Pending{.before = now, .instruction = {}, .counted = is_restarting_syscall(now)};
        if (live.pending->counted) live.pending->before.rip -= kSyscallBytes;
        live.pending->instruction = classify_at(tid, live.pending->before.rip);
    }
    tracee::step(tid, signal);
}

Task& Stepper::task(pid_t tid) {
    auto [found, added] = tasks_.try_emplace(tid);
    if (added) {
        found->second.process = tracee::process_of(tid);
        processes_[found->second.process];
    }
    return found->second;
}

Classified Stepper::classify_at(pid_t tid, std::uint64_t address) {
    return classify(tracee::code(tid, address).readable());
}

}  // namespace anyperf::step_count
