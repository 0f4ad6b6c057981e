// drain.h: moves records from the rings to the writer of the file, and counts samples and losses on the way.
//
// Records go to the file as they are in the ring. A recorder that decoded them would be slower and lose more: the
// kernel drops records while the ring is full. Of each record only the header is read, and of some kinds one more
// field: the time of a sample (feature SAMPLE_TIME), the file of a mapping (build ids), the number in a LOST record.
//
// There are two exceptions, which take the records of all rings in the order of time:
// - unwind_with() replaces copied stacks by callers. Those are so much smaller that it is cheaper to find them at once
//   than to write the stacks. Each sample must come after the maps of its process.
// - join_switches_with() makes one sample of the two records of a wait (merged/off_cpu.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "perfdata/sample_layout.h"
#include "perfdata/writer/record_output.h"
#include "recording/mapped_files.h"
#include "recording/merged/off_cpu.h"
#include "recording/merged/ring_merge.h"
#include "recording/merged/unwound_samples.h"
#include "recording/ring.h"

namespace anyperf::recording {

/// The writer must outlive it. Used by one thread.
class Drain {
  public:
    /// `layout_of`: the attr of any event, since in all of them the fields up to the time are at the same places.
    Drain(perfdata::RecordOutput& writer, const abi::Attr& layout_of);

    /// Writes all records that are in the rings now, and a FINISHED_ROUND after them. Error: the file cannot be
    /// written. The rings are emptied nevertheless, and what was in them is counted.
    Result<void> round(std::span<Ring> rings);
    /// Rounds until the rings are empty, after the events were stopped: one round leaves what a large ring has beyond
    /// kMostPieces. Error: as of round().
    Result<void> rest(std::span<Ring> rings);
    /// From now on round() writes no FINISHED_ROUND. It promises readers that older records do not follow; without it
    /// they sort the whole file.
    void leave_rounds_open() { rounds_ = false; }
    /// From now on samples are unwound before they are written. `unwound` must outlive the drain.
    void unwind_with(UnwoundSamples& unwound);
    /// From now on the samples of kOffCpuEvent become samples of waits. `off_cpu` must outlive the drain.
    void join_switches_with(OffCpuTimes& off_cpu);
    /// Writes one record that did not come from a ring.
    Result<void> put(Bytes record);
    /// The writer has begun another file: first_time() and last_time() start again. The new file needs the records of
    /// what exists once more; put_again() writes them without counting or following them a second time.
    void begin_file() { first_time_ = last_time_ = 0; }
    Result<void> put_again(Bytes record);
    /// From now on processes() are noted.
    void note_processes() { notes_processes_ = true; }
    /// The processes that were forked while recording. They may have ended.
    const std::set<std::uint32_t>& processes() const { return processes_; }
    /// Writes whole records that did not come from a ring, compressed as those of rings are.
    Result<void> put_all(Bytes records);

    std::uint64_t samples() const { return samples_; }
    /// Records that the kernel dropped because a ring was full, as LOST records say, and samples with impossible
    /// contents.
    std::uint64_t lost() const { return lost_; }
    std::uint64_t first_time() const { return first_time_; }
    std::uint64_t last_time() const { return last_time_; }
    const MappedFiles& files() const { return files_; }
    /// Adds what another drain, whose thread has ended, has counted and seen.
    void add_counts(const Drain& other);

  private:
    Result<void> end_round();
    /// A round, without its mark. Returns whether a ring had a record; `result` is the last error of the writer.
    bool empty_once(std::span<Ring> rings, Result<void>& result);
    /// Writes what is in one ring, at most kMostPieces. Returns whether it had a record.
    Result<bool> drain(Ring& ring);
    /// Writes what is in all rings, in the order of time. Returns whether they had a record.
    Result<bool> drain_merged(std::span<Ring> rings);
    /// Appends to `collected_` what the file gets for the record.
    void collect(Bytes record);
    /// Writes `collected_`; unless `all`, only if it is large enough.
    Result<void> write_collected(bool all);
    /// Counts a record, and notes its time, file or process.
    void look_at(Bytes record);

    perfdata::RecordOutput& writer_;
    perfdata::SampleLayout layout_;
    MappedFiles files_;
    UnwoundSamples* unwound_ = nullptr;
    OffCpuTimes* off_cpu_ = nullptr;
    std::optional<RingMerge> merge_;    ///< with `unwound_` or `off_cpu_`
    std::vector<std::byte> collected_;  ///< whole records that are not written yet
    std::set<std::uint32_t> processes_;
    bool notes_processes_ = false;
    bool rounds_ = true;
    std::uint64_t samples_ = 0, lost_ = 0, first_time_ = 0, last_time_ = 0;
};

}  // namespace anyperf::recording
