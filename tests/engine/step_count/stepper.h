// stepper.h: runs a program one instruction at a time and counts the instructions that retire, as the hardware's
// user-mode counters do: a REP string instruction once, a faulting instruction when it finally completes, `syscall`
// once, int3 and ud2 never.
//
// The meaning of a stop: each resumption remembers the instruction at rip as pending. A trap by TF (TRAP_TRACE) or at
// the end of a system call (TRAP_BRKPT) means that the pending instruction retired. Any other stop means that it did
// not: a signal is about to be delivered, or a handler's frame was just built (reported with si_code SIGTRAP). exit,
// execve and a task that dies inside a call never return from `syscall`, so their ptrace events retire it. Tracing also
// wakes a task from a blocking call for a signal that it ignores; the task then enters the call again. The tracer
// causes this second entry, so it is not counted.
#pragma once

#include <map>
#include <optional>
#include <ostream>

#include "step_count/callers.h"
#include "step_count/classify.h"
#include "step_count/modelled.h"
#include "step_count/tracee.h"

namespace anyperf::step_count {

struct Task {
    pid_t process = 0;
    std::string comm;
    Counts counts{};
};

struct Process {
    std::string comm;
    std::string executable;
    int status = 0;  ///< wait status
};

/// Each thread counts from the instruction at `start`, included, up to the one at `end`, excluded.
struct Window {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

class Stepper {
  public:
    /// Counts everything without a window. `trace` may be null; it must outlive the object.
    Stepper(std::optional<Window> window, std::ostream* trace) : window_(window), trace_(trace) {}
    /// Feeds the models with the first thread.
    void model(Modelled& models) { models_ = &models; }

    /// Follows the calls of all threads.
    void follow(Callers& callers) { callers_ = &callers; }

    /// Runs the program and all its descendants to their ends. Returns the program's wait status.
    int run(char* const arguments[]);

    [[nodiscard]] const std::map<pid_t, Task>& tasks() const { return tasks_; }
    [[nodiscard]] const std::map<pid_t, Process>& processes() const { return processes_; }

  private:
    /// The instruction that a task was resumed at.
    struct Pending {
        user_regs_struct before{};
        Classified instruction;
        bool iterated = false;  ///< a REP that has made an iteration
        bool counted = false;   ///< a system call that restarts after a signal without a handler
    };

    /// A task that has not ended.
    struct Live {
        std::optional<Pending> pending;
        bool in_window = false;
        user_regs_struct seen{};  ///< when it was last resumed
    };

    void on_stop(pid_t tid, int status);
    void on_trap(pid_t tid);
    void on_exit_event(pid_t tid);
    void on_exec_event(pid_t tid);
    void retire_syscall(pid_t tid);
    void retire(pid_t tid, const user_regs_struct& after);
    void retire_next(pid_t tid, const Pending& done, const user_regs_struct& after);
    void count(pid_t tid, const Classified& instruction, const user_regs_struct& before);
    void feed_models(pid_t tid, const Pending& done, std::uint64_t next);
    void resume(pid_t tid, int signal);
    void step_from(pid_t tid, const user_regs_struct& now, int signal);
    Task& task(pid_t tid);
    Classified classify_at(pid_t tid, std::uint64_t address);

    std::optional<Window> window_;
    std::ostream* trace_;
    Modelled* models_ = nullptr;
    Callers* callers_ = nullptr;
    pid_t first_ = 0;
    bool started_ = false;
    std::map<pid_t, Task> tasks_;
    std::map<pid_t, Live> live_;
    std::map<pid_t, Process> processes_;
};

}  // namespace anyperf::step_count
