// launch.h: how a process becomes a command of a run: it executes the engine, which is told the command.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "anyperf/error.h"
#include "broker/lifted_limits.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

class Launch {
  public:
    /// Made before the fork, so that the process need only make system calls. `to_broker` is the programs' end of the
    /// socket. Error, as `env` has it: exit_status 127, there is no such command; 126, it can't be executed.
    static Result<Launch> prepare(RunMemory& memory, int to_broker, std::vector<std::string> command);

    /// The thread page that is the process's own; without, it takes one itself.
    void begin_with(std::int64_t page);
    /// What the command's limits are to be.
    void limit_by(const LiftedLimits& limits) { limits_ = limits; }

    /// In the process, behind fork. Returns only where the engine can't be executed: errno.
    int execute() const;

  private:
    Launch() = default;

    std::vector<std::string> words_;  ///< the engine's path, then its arguments
    std::vector<char*> arguments_;    ///< of execv(3)
    int memory_ = -1;
    int to_broker_ = -1;
    bool fixed_addresses_ = false;
    LiftedLimits limits_;
};

/// Where programs send their requests: the host's end, and theirs.
Result<std::pair<OwnedFd, OwnedFd>> request_socket();

}  // namespace anyperf::broker
