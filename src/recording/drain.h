// drain.h: takes records out of rings and gives them to the writer of the file. On the way it looks at each record's
// header, and counts: nothing that was lost goes unnoticed.
//
// Records go from the ring to the file as they are. A recorder that decoded them would lose more: the kernel drops
// records while the ring is full. Only two things are looked at, the times of samples (SAMPLE_TIME) and the files in
// MMAP records (build ids).
//
// Copied stacks are the exception (unwind_with()): the callers in them are so much smaller that finding them at once is
// cheaper than writing the stack. Then records are taken in the order of time, each after the maps that it needs. So
// are they for the time off the CPU (join_switches_with()).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "perfdata/sample_layout.h"
#include "perfdata/writer/file_writer.h"
#include "recording/mapped_files.h"
#include "recording/merged/off_cpu.h"
#include "recording/merged/ring_merge.h"
#include "recording/merged/unwound_samples.h"
#include "recording/ring.h"

namespace anyperf::recording {

/// Counts what passes. The writer must outlive it.
class Drain {
  public:
    /// `layout_of`: any of the events: all have the fields up to the time at the same places.
    Drain(perfdata::FileWriter& writer, const abi::Attr& layout_of);

    /// Writes all records that are in the rings now, and a FINISHED_ROUND after them. Error: the file cannot be
    /// written. The rings are emptied nevertheless, and what was in them is counted.
    Result<void> round(std::span<Ring> rings);
    /// From here on no round is finished: records that are older than the newest ones may follow until the end.
    void leave_rounds_open() { rounds_ = false; }
    /// From here on samples are unwound before they are written. `unwound` must outlive the drain.
    void unwind_with(UnwoundSamples& unwound);
    /// From here on the samples of kOffCpuEvent become those of waits. `off_cpu` must outlive the drain.
    void join_switches_with(OffCpuTimes& off_cpu);
    /// Writes one record that did not come from a ring.
    Result<void> put(Bytes record);
    /// The writer has begun another file: times are counted anew. Records of what exists follow by put_again(): they
    /// say what the records before have said already.
    void begin_file() { first_time_ = last_time_ = 0; }
    Result<void> put_again(Bytes record);
    /// From here on processes() are noted.
    void note_processes() { notes_processes_ = true; }
    /// The processes that were forked while recording. They may have ended.
    const std::set<std::uint32_t>& processes() const { return processes_; }
    /// Writes whole records that did not come from a ring, compressed as those of rings.
    Result<void> put_all(Bytes records);

    std::uint64_t samples() const { return samples_; }
    /// Records that the kernel dropped because a ring was full, as LOST records say, and samples with impossible
    /// contents.
    std::uint64_t lost() const { return lost_; }
    std::uint64_t first_time() const { return first_time_; }
    std::uint64_t last_time() const { return last_time_; }
    const MappedFiles& files() const { return files_; }

  private:
    /// Empties one ring, as far as it is filled now. Returns whether there was something.
    Result<bool> drain(Ring& ring);
    /// Empties all rings together, in the order of time. Returns whether there was something.
    Result<bool> drain_merged(std::span<Ring> rings);
    /// Adds to `collected_` what is written for the record.
    void collect(Bytes record);
    Result<void> write_collected(bool all);
    /// Counts a record, and takes notes of its time or file.
    void look_at(Bytes record);

    perfdata::FileWriter& writer_;
    perfdata::SampleLayout layout_;
    MappedFiles files_;
    UnwoundSamples* unwound_ = nullptr;
    OffCpuTimes* off_cpu_ = nullptr;
    std::optional<RingMerge> merge_;    ///< with one of these
    std::vector<std::byte> collected_;  ///< whole records, to be written
    std::set<std::uint32_t> processes_;
    bool notes_processes_ = false;
    bool rounds_ = true;
    std::uint64_t samples_ = 0, lost_ = 0, first_time_ = 0, last_time_ = 0;
};

}  // namespace anyperf::recording
