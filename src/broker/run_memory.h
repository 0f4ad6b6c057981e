// run_memory.h: the memory that a run shares with the programs in it (engine/run_state.h, resident/layout.h), as its
// host sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "anyperf/error.h"
#include "resident/protocol.h"

namespace anyperf::broker {

/// A descriptor that is closed with its owner.
class OwnedFd {
  public:
    OwnedFd() = default;
    explicit OwnedFd(int fd) : fd_(fd) {}
    OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
    OwnedFd& operator=(OwnedFd&& other) noexcept;
    OwnedFd(const OwnedFd&) = delete;
    OwnedFd& operator=(const OwnedFd&) = delete;
    ~OwnedFd();

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release();

  private:
    int fd_ = -1;
};

/// Of the memfd, in /proc/PID/maps.
inline constexpr char kRunMemoryName[] = "anyperf-run";
/// More than all rings together will ever have: what nobody has written takes no memory.
inline constexpr std::uint64_t kRunFileBytes = std::uint64_t{1} << 40;

class RunMemory {
  public:
    /// Makes the memory; the Error tells why the kernel refused.
    static Result<RunMemory> make();

    engine::RunHeader& header() const { return *at<engine::RunHeader>(0); }
    const engine::ProcessRecord& process(std::uint32_t number) const {
        return at<engine::ProcessRecord>(engine::kProcessesOffset)[number];
    }
    const engine::ThreadRecord& thread(std::uint32_t number) const {
        return at<engine::ThreadRecord>(engine::kThreadsOffset)[number];
    }
    engine::ThreadPage& thread_page(std::uint32_t number) const {
        return at<engine::ThreadPage>(engine::kThreadPagesOffset)[number];
    }
    subsystem::EventPage& event(std::uint32_t index) const {
        return at<subsystem::EventPage>(resident::kEventsOffset)[index];
    }
    subsystem::RingPage& ring(std::uint32_t index) const {
        return at<subsystem::RingPage>(resident::kRingPagesOffset)[index];
    }
    subsystem::Filter& filter(std::uint32_t index) const {
        return at<subsystem::Filter>(resident::kFiltersOffset)[index];
    }
    std::span<subsystem::Probe> probes() const {
        return {at<subsystem::Probe>(resident::kProbesOffset), subsystem::kMaximumProbes};
    }
    std::span<subsystem::ProbeRecord> probe_records() const {
        return {at<subsystem::ProbeRecord>(resident::kProbeRecordsOffset), subsystem::kMaximumProbeRecords};
    }
    resident::Mailbox& mailbox(std::uint32_t thread_page) const {
        return at<resident::Mailbox>(resident::kMailboxesOffset)[thread_page];
    }
    int fd() const { return fd_.get(); }
    /// How far rings may reach in it.
    std::uint64_t file_bytes() const { return file_bytes_; }

  private:
    struct Unmap {
        void operator()(char* memory) const;
    };
    template <class T>
    T* at(std::size_t offset) const {
        return reinterpret_cast<T*>(memory_.get() + offset);
    }

    OwnedFd fd_;
    std::uint64_t file_bytes_ = 0;
    std::unique_ptr<char, Unmap> memory_;
};

}  // namespace anyperf::broker
