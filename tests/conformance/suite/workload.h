// workload.h: workloads whose page faults, stores, instructions and branches are known exactly, and processes and
// threads that run them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// Causes page faults: each is the first store to another page. The constructor touches the program's pages and opens
/// and reads an event once, so that the code of the case causes no other faults between enable and disable. A case
/// needs one object, created at its start.
class Faults {
  public:
    explicit Faults(std::size_t pages = 4096);
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
    ~Faults();

    /// Causes `times` faults, one store each.
    void cause(int times);
    /// The address of the last fault.
    char* last() const { return next_ - kPage; }
    /// The address of the next fault.
    char* next() const { return next_; }

    static constexpr std::size_t kPage = 4096;

  private:
    char* memory_ = nullptr;
    char* next_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Touches this program's code and data and the stack below the caller, so that their first use causes no faults later.
/// A forked process starts without most of these pages in its page tables.
void touch_program();

/// A child process that executes one of `steps` for each call of step(). The destructor kills it.
class Child {
  public:
    explicit Child(std::vector<std::function<void()>> steps);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    pid_t pid() const { return pid_; }
    /// Lets the child execute its next step and waits until it is done.
    void step();
    /// Lets the child execute its next step without waiting: the step ends the process or executes another program.
    void last_step();
    /// Waits until the child has ended; returns its status as of waitpid.
    int join();

  private:
    pid_t pid_ = -1;
    int command_ = -1;
    int done_ = -1;
};

/// Runs `body` in a forked process and waits for it; returns its status as of waitpid, 99 if `body` throws.
int in_child(const std::function<void()>& body);

/// Runs `body` in a forked process; a Failure or Skip that it throws is thrown here, too.
void in_checked_child(const std::function<void()>& body);

/// Runs `body` in a thread of this process and waits for it.
void in_thread(const std::function<void()>& body);

/// Executes this program again, to perform one of helper()'s actions. Returns only if that fails.
void exec_helper(const std::vector<std::string>& arguments);

/// The actions of this program when it is started as a helper: `faults N`, `name TEXT`, `nothing`, `loop N`, `read FD`
/// (status 0 if a count can be read).
int helper(const std::vector<std::string>& arguments);

/// Drops all privileges: switches to uid and gid 65534. The process stays dumpable.
void become_nobody();

pid_t thread_id();

/// Pins this thread to the nth CPU of allowed_cpus(); returns that CPU's number.
int pin_to(int nth = 0);
/// The CPUs that this process may run on, as of its start.
const std::vector<int>& allowed_cpus();

/// Stores to `target`: each store is one hit of a watchpoint on it.
void store(volatile std::uint64_t& target, int times = 1);
/// Loads from `source`: each load is one hit of a read-write watchpoint on it.
std::uint64_t load(const volatile std::uint64_t& source, int times = 1);

/// Executes 2n + 1 instructions, of which n + 1 are branches: n - 1 jnz that are taken, one that is not, and one ret.
extern "C" void conformance_loop(std::uint64_t times);

/// Jumps to conformance_loop: one instruction and one branch more.
extern "C" void conformance_tail(std::uint64_t times);

}  // namespace conformance
