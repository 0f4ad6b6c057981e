// parallel_drain.h: several threads empty the rings, each its own ones, into a file for each ring (record --threads).
//
// One thread moves some GB/s into the page cache, and compresses some hundred MB/s. The rings of more CPUs are full
// before it comes back to them. Here a ring has one thread, which writes its records as they are to data.0, data.1 …
// of the recording's directory (perfdata/bytes/directory.h). Nothing is shared between the threads but the counts that
// the session watches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/writer/record_output.h"
#include "recording/drain.h"
#include "recording/drain_threads.h"
#include "recording/open_set.h"

namespace anyperf::recording {

class ParallelDrain {
  public:
    struct Options {
        std::string directory;
        std::optional<int> compression;    ///< the level
        std::uint64_t noted_bytes = 0;     ///< the session is woken when so many bytes more are written; 0: never
        std::vector<DrainThread> threads;  ///< each ring of `events` is in one of them
    };

    /// Creates the files and starts the threads. `events` must outlive this. Error: a file cannot be created, or there
    /// are no descriptors or threads left.
    static Result<std::unique_ptr<ParallelDrain>> start(OpenSet& events, Options options);
    ParallelDrain(const ParallelDrain&) = delete;
    ParallelDrain& operator=(const ParallelDrain&) = delete;
    ~ParallelDrain();

    /// Readable after a file could not be written, or after Options::noted_bytes, until clear_wake().
    int wake_fd() const { return wake_; }
    void clear_wake();
    /// Bytes of records in the files.
    std::uint64_t data_bytes() const { return bytes_.load(std::memory_order_relaxed); }
    /// The first failure of a file.
    std::optional<Error> failure() const;

    /// Writes what the rings have, and ends the threads and the files. Call it once, after the events were stopped.
    void stop();
    /// After stop(): adds what was counted to those of `drain`.
    void add_counts_to(Drain& drain) const;
    std::uint64_t plain_bytes() const;
    std::uint64_t dropped_bytes() const;

  private:
    /// A ring, and where its records go.
    struct Channel {
        Channel(Ring& of, int event, perfdata::RecordOutput to, const abi::Attr& layout_of)
            : ring(of), fd(event), output(std::move(to)), drain(output, layout_of) {}

        Ring& ring;
        int fd;
        perfdata::RecordOutput output;
        Drain drain;
        std::uint64_t seen_bytes = 0;
    };
    struct Worker {
        std::vector<std::unique_ptr<Channel>> channels;
        std::vector<int> affinity;
        int epoll = -1;
        std::thread thread;
    };

    ParallelDrain() = default;
    Result<void> open_channels(OpenSet& events, const Options& options);
    Result<void> prepare_waiting();
    void run(Worker& worker);
    void empty(Channel& channel, bool last);
    void note_progress(Channel& channel);
    void note_failure(const Error& error);
    void wake();

    std::vector<Worker> workers_;
    std::uint64_t noted_bytes_ = 0;
    int wake_ = -1, end_ = -1;  // eventfds: for the session, and for the threads
    std::atomic<std::uint64_t> bytes_ = 0;
    std::atomic<bool> ending_ = false;
    mutable std::mutex mutex_;
    std::optional<Error> failure_;  // under `mutex_`
};

}  // namespace anyperf::recording
