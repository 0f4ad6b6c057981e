// callers.h: the calls of each task that have not returned, followed by single steps: the reference for exact call
// chains (engine/instrumentation/open_calls.h). Each step shows rsp, so nothing has to be guessed afterwards: what lies
// below rsp on its stack has been left.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

#include "step_count/classify.h"
#include "step_count/tracee.h"

namespace anyperf::step_count {

class Callers {
  public:
    /// Writes the chain after each `period` instructions of a task: the address of the next instruction, and those that
    /// the open calls return to.
    Callers(std::ostream& out, std::uint64_t period) : out_(out), period_(period) {}

    /// `instruction` has retired.
    void retire(pid_t tid, const Classified& instruction, const user_regs_struct& before,
                const user_regs_struct& after);
    /// The task is about to execute the instruction at `rip`.
    void resume(pid_t tid, std::uint64_t rip);
    /// The kernel has built a handler's frame for what `interrupted` was about to do.
    void enter_handler(pid_t tid, const user_regs_struct& interrupted, const user_regs_struct& now);
    /// A task has the memory, and the stack, of its parent.
    void copy(pid_t parent, pid_t child) { tasks_[child].stacks = tasks_[parent].stacks; }
    /// Another program has replaced the task's.
    void forget(pid_t tid) { tasks_[tid].stacks.clear(); }

  private:
    struct Call {
        std::uint64_t place = 0;  ///< of the return address
        bool signal = false;      ///< it is a signal's frame: `place` has the interrupted address, and rsp before it
    };
    using Stack = std::vector<Call>;
    struct Task {
        std::vector<Stack> stacks;
        std::size_t current = 0;
        std::uint64_t retired = 0;
        bool due = false;  ///< a chain is to be written before the task goes on
    };

    static Stack& stack_of(Task& task, bool moves, std::uint64_t before, std::uint64_t rsp);
    void print(pid_t tid, const Task& task, std::uint64_t rip);

    std::ostream& out_;
    std::uint64_t period_;
    std::map<pid_t, Task> tasks_;
};

}  // namespace anyperf::step_count
