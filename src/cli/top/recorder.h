// recorder.h: the process that records for `top`. It is `anyperf record -o -`, so `top` takes the same events, tasks
// and PMUs, and what records is never slowed down by what shows.
//
// Samples come through a pipe. If the reader is slow, the recorder waits at the pipe, the rings fill, and the kernel
// counts what it drops; the pipe is as large as an unprivileged process may make it, so that reading the symbols of a
// large file does not cost samples.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "anyperf/error.h"
#include "broker/run_memory.h"

namespace anyperf::cli::top {

/// Ends the process if it still runs. Move-only.
class Recorder {
  public:
    /// Starts `anyperf record -o - WORDS`. With `keep_messages` its standard error, and so that of its command, goes to
    /// messages(), and its standard input is empty: the terminal belongs to the caller. Error: it cannot be started.
    static Result<Recorder> start(const std::vector<std::string>& words, bool keep_messages);
    Recorder(Recorder&& other) noexcept;
    Recorder& operator=(Recorder&&) = delete;
    ~Recorder();

    /// The path by which the recording can be opened, once.
    std::string recording() const;
    /// Closes this process's own reading end: if the reader stops early, the recorder must get SIGPIPE and not wait for
    /// room. Call it after the reader has opened the recording.
    void release_recording() { recording_ = broker::OwnedFd{}; }
    /// What the recorder and its command have printed since the last call, if it is kept. Does not wait.
    std::string messages();
    /// Readable when messages() has something; -1 if nothing is kept.
    int messages_fd() const { return messages_.get(); }

    /// Asks the recorder to end, and its command with it.
    void stop() const;
    /// Waits for its end, and returns its exit status: 128 + the signal if a signal killed it.
    int wait();

  private:
    Recorder() = default;

    pid_t pid_ = -1;
    broker::OwnedFd recording_, messages_;
};

}  // namespace anyperf::cli::top
