// run.h: `anyperf run`: starts a command in the engine, waits for it, and has the counts of its process tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "engine/run_state.h"

namespace anyperf::broker {

struct RunOptions {
    std::vector<std::string> command;  ///< at least the program
    std::uint32_t counting = 0;        ///< classes to count, a ClassSet of engine/x86_64/classes.h; 0: nothing
    bool deterministic = false;        ///< fixed addresses, fixed AT_RANDOM
};

/// The memory of a run that has ended, for reading what was counted.
class RunMemory {
  public:
    /// Makes the memory; the Error tells why the kernel refused.
    static Result<RunMemory> make();

    engine::RunHeader& header() const { return *reinterpret_cast<engine::RunHeader*>(memory_.get()); }
    const engine::ProcessRecord& process(std::uint32_t number) const;
    const engine::ThreadRecord& thread(std::uint32_t number) const;
    const engine::ThreadPage& thread_page(std::uint32_t number) const;
    int fd() const { return *fd_; }

  private:
    struct CloseFd {
        void operator()(const int* fd) const;
    };
    struct Unmap {
        void operator()(char* memory) const;
    };

    std::unique_ptr<int, CloseFd> fd_;
    std::unique_ptr<char, Unmap> memory_;
};

/// A run that has ended.
struct RunResult {
    RunMemory memory;
    int status = 0;  ///< of the command, as wait(2) gives it
};

/// Runs the command in the engine and waits for it. The terminal's signals go to the command; we only wait.
Result<RunResult> run(const RunOptions& options);

}  // namespace anyperf::broker
