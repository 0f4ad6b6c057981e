#include "step_count/callers.h"

#include <Zydis/Zydis.h>

#include <utility>

namespace anyperf::step_count {

namespace {

/// rsp moves farther than by any frame of the tests: to another stack, or out of many frames.
constexpr std::uint64_t kFar = 4096;
constexpr std::size_t kMostCallers = 126;  // perf_event_max_stack without the sample's own address

bool is_far(std::uint64_t a, std::uint64_t b) {
    return a - b > kFar && b - a > kFar;
}

}  // namespace

/// The stack that rsp is on. `moves`: the instruction does not only add to rsp. A far move stays on the stack if it
/// leads to a place among its calls.
Callers::Stack& Callers::stack_of(Task& task, bool moves, std::uint64_t before, std::uint64_t rsp) {
    if (task.stacks.empty()) task.stacks.emplace_back(), task.current = 0;
    const auto holds = [&](const Stack& stack) {
        return !stack.empty() && rsp + kFar >= stack.back().place && rsp <= stack.front().place + kFar;
    };
    const Stack& current = task.stacks[task.current];
    const bool inside = !current.empty() && rsp >= current.back().place && rsp <= current.front().place + 8;
    if (!moves || !is_far(before, rsp) || inside) return task.stacks[task.current];
    for (std::size_t i = 0; i < task.stacks.size(); ++i)
        if (i != task.current && holds(task.stacks[i])) return task.stacks[task.current = i];
    if (current.empty()) return task.stacks[task.current];
    task.current = task.stacks.size();
    return task.stacks.emplace_back();
}

void Callers::retire(pid_t tid, const Classified& instruction, const user_regs_struct& before,
                     const user_regs_struct& after) {
    Task& task = tasks_[tid];
    const bool adds = instruction.mnemonic == ZYDIS_MNEMONIC_SUB || instruction.mnemonic == ZYDIS_MNEMONIC_ADD;
    Stack& stack = stack_of(task, !adds, before.rsp, after.rsp);
    while (!stack.empty() && stack.back().place < after.rsp) stack.pop_back();
    if ((instruction.classes & engine::x86_64::bit(Class::calls)) != 0 && after.rsp == before.rsp - 8 &&
        after.rip != before.rip + instruction.length) {
        while (!stack.empty() && stack.back().place <= after.rsp) stack.pop_back();
        stack.push_back({after.rsp});
    }
    task.due = ++task.retired % period_ == 0;
}

void Callers::resume(pid_t tid, std::uint64_t rip) {
    Task& task = tasks_[tid];
    if (std::exchange(task.due, false)) print(tid, task, rip);
}

void Callers::enter_handler(pid_t tid, const user_regs_struct& interrupted, const user_regs_struct& now) {
    Task& task = tasks_[tid];
    Stack& stack = stack_of(task, true, interrupted.rsp, now.rsp);
    while (!stack.empty() && stack.back().place < now.rsp) stack.pop_back();
    constexpr std::uint64_t kRip = 8 + 40 + 128;  // struct rt_sigframe: return address, ucontext, sigcontext up to rip
    stack.push_back({now.rsp + kRip, true});
    stack.push_back({now.rsp});
}

void Callers::print(pid_t tid, const Task& task, std::uint64_t rip) {
    out_ << std::hex << rip;
    std::size_t count = 0;
    const Stack* stack = &task.stacks[task.current];
    std::uint64_t above = 0;
    for (std::size_t i = stack->size(); i-- > 0 && count < kMostCallers;) {
        const Call& call = (*stack)[i];
        if (call.place < above) continue;
        out_ << ' ' << tracee::word(tid, call.place);
        ++count;
        if (!call.signal) continue;
        above = tracee::word(tid, call.place - 8);
        for (const Stack& other : task.stacks)
            if (&other != stack && !other.empty() && above + kFar >= other.back().place &&
                above <= other.front().place + kFar && is_far(above, call.place)) {
                stack = &other;
                i = stack->size();
                break;
            }
    }
    out_ << std::dec << '\n';
}

}  // namespace anyperf::step_count
