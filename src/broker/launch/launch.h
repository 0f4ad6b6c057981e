// launch.h: how a process becomes a command of a run: it executes the engine, with the command as arguments and the
// descriptors of the run's memory (two), of the request socket and of the engine itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "anyperf/error.h"
#include "broker/launch/raised_limits.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

class Launch {
  public:
    /// To be called before the fork, so that the child only has to make system calls. `to_broker` is the programs' end
    /// of the request socket. It must stay open, and `memory` must live. An error of the command has the exit status of
    /// env(1): 127 if the command was not found, 126 if it cannot be executed.
    static Result<Launch> prepare(RunMemory& memory, int to_broker, std::vector<std::string> command);

    /// Gives the process the thread page with this number. With -1, the initial value, the engine takes one.
    void set_thread_page(std::int64_t page);
    /// Sets the resource limits that the broker raised; execute() restores them.
    void set_limits(const LiftedLimits& limits) { limits_ = limits; }

    /// To be called in the child, after the fork. Returns only if the engine cannot be executed, with the errno.
    int execute() const;

  private:
    Launch() = default;

    std::vector<std::string> command_line_;
    std::vector<char*> arguments_;  ///< for execveat(2); they point into `command_line_`
    OwnedFd engine_;  ///< its executable (O_PATH): programs execute it also after chroot and without /proc
    int facts_ = -1;
    int memory_ = -1;
    int to_broker_ = -1;
    bool fixed_addresses_ = false;
    LiftedLimits limits_;
};

/// Makes the socket pair for requests: the broker's end, and the one that all programs share.
Result<std::pair<OwnedFd, OwnedFd>> make_request_socket();

}  // namespace anyperf::broker
