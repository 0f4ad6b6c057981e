// live_profile.h: the profile of a recording that is still being made. A thread reads records as they come; snapshot()
// names what it has gathered.
//
// The records of a round are delivered when the round after it has ended (perfdata/round_queue.h), so a snapshot is
// some two tenths of a second old.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/gatherer.h"
#include "analysis/read_profile.h"
#include "anyperf/error.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

namespace anyperf::cli::top {

/// The reader's thread calls the functions of perfdata::Consumer, and one other thread all others.
class LiveProfile final : private perfdata::Consumer {
  public:
    /// Begins to read the recording at `path`. `options` and its unwinder must outlive this object.
    LiveProfile(std::string path, const analysis::ReadOptions& options);
    LiveProfile(const LiveProfile&) = delete;
    LiveProfile& operator=(const LiveProfile&) = delete;
    /// Waits for the end of the recording.
    ~LiveProfile() override;

    /// What was gathered, with names. It has no event while nothing is known of the recording.
    profile::Profile snapshot();
    /// Lets what was gathered so far weigh an eighth less, or nothing.
    void decay();
    void forget();
    /// Whether the recording has been opened, or cannot be.
    bool opened();
    /// Whether the recording has ended.
    bool ended();
    /// Why the recording could not be read to its end. To be called after it has ended.
    const std::optional<Error>& failure() const { return failure_; }

  private:
    void read();
    void sample(const perfdata::Sample& sample, std::size_t event) override;
    void record(const perfdata::Record& record) override;
    void user_record(perfdata::RecordType type, perfdata::Bytes bytes, bool foreign) override;

    const std::string path_;
    const analysis::ReadOptions& options_;
    std::optional<perfdata::Reader> reader_;  // of the reader's thread
    std::optional<Error> failure_;            // the same, until it has ended
    std::mutex mutex_;                        // guards what follows
    std::optional<analysis::Gatherer> gatherer_;
    std::vector<profile::Event> events_;
    bool opened_ = false, ended_ = false;
    std::thread thread_;  // the last member: it uses all others
};

}  // namespace anyperf::cli::top
