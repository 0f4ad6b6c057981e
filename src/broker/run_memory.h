// run_memory.h: the memory that the broker shares with the programs of a run: two memfds with the layout of
// run/layout.h, the facts and the run memory.
//
// The kernel lets no program write the facts. Programs may write the run memory at any time, so a value there may
// change between two reads, and may be false. The broker keeps what it relies on in its own memory (docs/security.md).
// Neither file can be made shorter or longer, so that no access to it can fail.
//
// The broker maps the facts, and the run memory up to its rings. It maps the rings one by one, and does not map the
// exact counts after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "anyperf/error.h"
#include "run/exact_counts.h"
#include "run/protocol.h"
#include "run/shared_array.h"

namespace anyperf::broker {

/// Owns a descriptor and closes it.
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
    /// Gives the descriptor up without closing it.
    int release();

  private:
    int fd_ = -1;
};

/// The names of the memfds in /proc/PID/maps.
inline constexpr char kRunMemoryName[] = "anyperf-run";
inline constexpr char kFactsName[] = "anyperf-facts";
/// The size of the run memory without its exact counts. No ring is made beyond it (RunHost::new_ring). A page that was
/// never written takes no memory.
inline constexpr std::uint64_t kRunFileBytes = run::exact::kOffset;

class RunMemory {
  public:
    /// Creates the memfds and maps them. Error: the system call that failed, and the limit that may be the reason.
    static Result<RunMemory> make();

    run::RunHeader& header() const { return *reinterpret_cast<run::RunHeader*>(facts_.get()); }
    run::RunUse& use() const { return *at<run::RunUse>(0); }
    // Each array checks the index, which may come from a program (run::SharedArray).
    const run::ProcessRecord& process(std::uint32_t number) const {
        return array<run::ProcessRecord>(run::kProcessesOffset, run::kMaximumProcesses)[number];
    }
    const run::ThreadRecord& thread(std::uint32_t number) const {
        return array<run::ThreadRecord>(run::kThreadsOffset, run::kMaximumThreads)[number];
    }
    run::ThreadPage& thread_page(std::uint32_t number) const {
        return array<run::ThreadPage>(run::kThreadPagesOffset, run::kMaximumThreadPages)[number];
    }
    const run::TupleCounts& tuple_counts(std::uint32_t thread_page) const {
        return array<run::TupleCounts>(run::kTupleCountsOffset, run::kMaximumThreadPages)[thread_page];
    }
    /// What the thread of a page has counted.
    run::ThreadCounts counts_of(std::uint32_t thread_page_number) const {
        return {thread_page(thread_page_number).counters, tuple_counts(thread_page_number)};
    }
    subsystem::EventPage& event(std::uint32_t index) const {
        return array<subsystem::EventPage>(run::kEventsOffset, run::kMaximumEvents)[index];
    }
    subsystem::RingPage& ring(std::uint32_t index) const {
        return array<subsystem::RingPage>(run::kRingPagesOffset, run::kMaximumRings)[index];
    }
    subsystem::Filter& filter(std::uint32_t index) const {
        return run::SharedArray{fact<subsystem::Filter>(run::kFiltersOffset), run::kMaximumFilters}[index];
    }
    std::span<subsystem::Probe> probes() const {
        return {fact<subsystem::Probe>(run::kProbesOffset), subsystem::kMaximumProbes};
    }
    std::span<subsystem::ProbeRecord> probe_records() const {
        return {fact<subsystem::ProbeRecord>(run::kProbeRecordsOffset), subsystem::kMaximumProbeRecords};
    }
    run::Mailbox& mailbox(std::uint32_t thread_page) const {
        return array<run::Mailbox>(run::kMailboxesOffset, run::kMaximumThreadPages)[thread_page];
    }
    int fd() const { return fd_.get(); }
    /// The memory that the broker alone writes.
    int facts_fd() const { return facts_fd_.get(); }
    /// Where rings end at the latest.
    std::uint64_t file_bytes() const { return std::min(file_bytes_, kRunFileBytes); }
    /// Whether there is room for exact counts after the rings.
    bool has_exact_part() const { return file_bytes_ == run::exact::kOffset + run::exact::kBytes; }

  private:
    template <std::size_t kBytes>
    struct Unmap {
        void operator()(char* memory) const;
    };
    Result<void> make_facts();
    Result<void> make_shared();

    template <class T>
    T* at(std::size_t offset) const {
        return reinterpret_cast<T*>(memory_.get() + offset);
    }
    template <class T>
    T* fact(std::size_t offset) const {
        return reinterpret_cast<T*>(facts_.get() + offset);
    }
    template <class T>
    run::SharedArray<T> array(std::size_t offset, std::uint32_t count) const {
        return {at<T>(offset), count};
    }

    OwnedFd facts_fd_;
    OwnedFd fd_;
    std::uint64_t file_bytes_ = 0;
    std::unique_ptr<char, Unmap<run::kFactsBytes>> facts_;
    std::unique_ptr<char, Unmap<run::kRingsOffset>> memory_;
};

}  // namespace anyperf::broker
