// stepper.h: runs a program one instruction at a time and counts what retires, as the hardware's user-mode counters
// would: a REP string instruction once, a faulting one when it finally gets through, `syscall` once, int3 and ud2
// never.
//
// How a stop is read. Each resumption remembers the instruction at rip ("pending"). A trap by TF (TRAP_TRACE) or at a
// system call's end (TRAP_BRKPT) says that it retired. Any other stop says that it did not: a signal that is about to
// be delivered, or a handler's frame just made (reported with si_code SIGTRAP). exit, execve and a task that dies
// within a call never come back from `syscall`, so their events retire it. A traced task also wakes from blocking calls
// for signals that it ignores, and enters the call again; that second entry is the tracer's doing and not counted.
#pragma once

#include <map>
#include <optional>
#include <ostream>

#include "step_count/classify.h"
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
    int status = 0;  ///< as waitpid gives it
};

/// Counting goes on from the instruction at `start` up to that at `end`, exclusive, for each thread by itself.
struct Window {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

class Stepper {
  public:
    Stepper(std::optional<Window> window, std::ostream* trace) : window_(window), trace_(trace) {}

    /// Runs the program and everything it starts to the end. Returns its wait status.
    int run(char* const arguments[]);

    [[nodiscard]] const std::map<pid_t, Task>& tasks() const { return tasks_; }
    [[nodiscard]] const std::map<pid_t, Process>& processes() const { return processes_; }

  private:
    struct Pending {
        user_regs_struct before{};
        Classified instruction;
        bool counted = false;  ///< a call that is entered again after a signal nobody handles
    };

    struct Live {
        std::optional<Pending> pending;
        bool in_window = false;
    };

    void stopped(pid_t tid, int status);
    void trapped(pid_t tid);
    void leaving(pid_t tid);
    void replaced(pid_t tid);
    void retire_call(pid_t tid);
    void retire(pid_t tid, const user_regs_struct& after);
    void count(pid_t tid, const Classified& instruction, const user_regs_struct& before);
    void resume(pid_t tid, int signal);
    void step_from(pid_t tid, const user_regs_struct& now, int signal);
    Task& task(pid_t tid);
    Classified at(pid_t tid, std::uint64_t address);

    std::optional<Window> window_;
    std::ostream* trace_;
    bool started_ = false;
    std::map<pid_t, Task> tasks_;
    std::map<pid_t, Live> live_;
    std::map<pid_t, Process> processes_;
};

}  // namespace anyperf::step_count
