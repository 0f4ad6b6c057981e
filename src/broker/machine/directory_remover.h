// directory_remover.h: a temporary directory is removed at the end of the run, also if the broker is killed.
#pragma once

#include <sys/types.h>

#include <string>

#include "broker/run_memory.h"

namespace anyperf::broker {

/// A process that waits until no process holds the other end of a pipe, and then removes a directory. The broker holds
/// that end, and so does a forked copy of it that goes on serving; commands do not get it. The process has a session of
/// its own, so that a signal to the broker's process group does not reach it.
class DirectoryRemover {
  public:
    DirectoryRemover() = default;
    DirectoryRemover(const DirectoryRemover&) = delete;
    DirectoryRemover& operator=(const DirectoryRemover&) = delete;
    ~DirectoryRemover() { release(); }

    /// Starts the process. A limit may prevent that: then nobody removes the directory of a killed broker.
    void start(const std::string& directory);
    /// Waits until the directory has been removed. Called by the last process that holds the pipe.
    void finish();
    /// Leaves the directory to the other processes that hold the pipe.
    void release() { pipe_ = OwnedFd{}; }

  private:
    OwnedFd pipe_;
    pid_t process_ = -1;
};

}  // namespace anyperf::broker
