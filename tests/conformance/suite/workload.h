// workload.h: things of which one knows exactly how often they happen, and processes to let them happen in.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// Causes page faults: each is the first store into another page. What the case runs has been touched before, so
/// that between enable and disable there are no others. One of these at the start of a case does.
class Faults {
  public:
    explicit Faults(std::size_t pages = 4096);
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
    ~Faults();

    /// So many faults, one store each.
    void cause(int times);
    /// Where the last fault was.
    char* last() const { return next_ - kPage; }
    char* next() const { return next_; }

    static constexpr std::size_t kPage = 4096;

  private:
    char* memory_ = nullptr;
    char* next_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Touches this program's code, data and the stack below, as they are first used otherwise. A forked process begins
/// with page tables without most of them.
void touch_program();

/// A process that does one step of `steps` each time it is told to. Ends with the case.
class Child {
  public:
    explicit Child(std::vector<std::function<void()>> steps);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    pid_t pid() const { return pid_; }
    /// The next step, and until it is done.
    void step();
    /// The next step, which does not come back: it ends or becomes another program.
    void last_step();
    /// Until it has ended: its status as of waitpid.
    int join();

  private:
    pid_t pid_ = -1;
    int command_ = -1;
    int done_ = -1;
};

/// Runs `body` in a forked process to its end; its exit status as of waitpid.
int in_child(const std::function<void()>& body);

/// Runs `body` in a forked process; a Failure or Skip there is one here.
void in_checked_child(const std::function<void()>& body);

/// In a thread of this process, until its end.
void in_thread(const std::function<void()>& body);

/// Becomes this program again, to do one of helper()'s acts. Only returns where that fails.
void exec_helper(const std::vector<std::string>& arguments);

/// What the program does when it is started as a helper: `faults N`, `name TEXT`, `nothing`, `loop N`.
int helper(const std::vector<std::string>& arguments);

/// Gives up all rights but those of uid and gid 65534. Stays dumpable.
void become_nobody();

pid_t thread_id();

/// Pins this thread to the nth CPU it may run on; returns that CPU's number.
int pin_to(int nth = 0);
/// The CPUs that this process may run on, as of its start.
const std::vector<int>& allowed_cpus();

/// A store of this thread that `watchpoint()` sees once.
void store(volatile std::uint64_t& target, int times = 1);
std::uint64_t load(const volatile std::uint64_t& source, int times = 1);

/// 2n + 1 instructions, of which n + 1 are branches (n - 1 of them taken jnz, one not, one ret): see loop.S.
extern "C" void conformance_loop(std::uint64_t times);

/// A jump to conformance_loop.
extern "C" void conformance_tail(std::uint64_t times);

}  // namespace conformance
