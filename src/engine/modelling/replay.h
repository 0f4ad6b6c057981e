// replay.h: replays recorded segments of one thread in its models. cache/recorded_segment.h says what the records mean.
//
// A segment has a list of its memory accesses and fetches, in order. The list has a fetch only if its instruction
// begins or ends in another cache line than the one in which the instruction before it ended. All other fetches hit the
// line that was touched last and change nothing, so they are only counted. There is one exception: between two fetches
// of a line, a data access may make an inclusive last level remove that line. Then the rest of the segment is replayed
// instruction by instruction.
//
// Segments that are replayed often have generated code for it (replay_code.h), which calls the functions here for
// accesses that do not just hit.
#pragma once

#include <cstdint>

#include "engine/cache/packed_marks.h"
#include "engine/cache/recorded_segment.h"
#include "engine/engine.h"
#include "engine/modelling/noted_branches.h"
#include "engine/modelling/thread_models.h"

namespace anyperf::engine {

/// Replays the records of one drain. Precondition: the lock of the models is held.
class Replay {
  public:
    Replay(Thread& thread, ThreadModels& models);

    /// Replays all of a segment but its branch. `words`: its record.
    void whole(const RecordedSegment& segment, const std::uint64_t* words);
    /// Replays the first `ran` instructions of a segment that was left in the middle.
    void part(const RecordedSegment& segment, const std::uint64_t* words, unsigned ran) {
        replay_each(segment, first_access(segment), words, 0, ran);
    }
    /// Replays the branch at the end of a segment, which went to `next`. A conditional branch to the instruction after
    /// it counts as not taken.
    void branch(const RecordedSegment& segment, std::uint64_t next);
    /// Where the models see this code.
    std::uint64_t place_of(std::uint64_t pc) const { return thread_.engine->cache.fixed_places.of(pc); }
    /// Replays one access or fetch, or both accesses of a REP string instruction at `pc`. Returns the next entry of the
    /// list, which ends at `end`.
    const RecordedAccess* replay(const RecordedAccess* access, const RecordedAccess* end, const std::uint64_t* words,
                                 std::uint64_t pc);
    /// Replays the rest of a segment after `last`, instruction by instruction. `access`: the first entry after `last`.
    /// Precondition: all fetches of the segment were counted in advance, as whole() does.
    void rest(const RecordedSegment& segment, const RecordedAccess& last, const RecordedAccess* access,
              const std::uint64_t* words);
    /// Whether it is counted from now on how many accesses and fetches change the most recent line of a set.
    void measure(bool wanted) { measures_ = wanted; }
    std::uint64_t changed_lines() const { return changed_lines_; }
    /// Adds the counts of what has hit. Call it after the last segment.
    void finish() { core_.count_repeated(repeated_); }

    /// A fetch of an instruction, and an access to an operand, that the models look at, with what they cost. `waits`:
    /// the address comes from a load of the segment.
    void fetch_anew(std::uint64_t pc, unsigned bytes) { models_.stalls.fetched(core_.fetch_anew(pc, bytes)); }
    void access_anew(std::uint64_t pc, std::uint64_t address, unsigned bytes, models::Access kind, bool waits);
    /// The application's base of fs at this point of the replay.
    std::uint64_t fs_base();
    /// What follows is in this record.
    void at(const std::uint64_t* record);

    MarkReader marks_of(const RecordedSegment& segment) const;
    const RecordedAccess* first_access(const RecordedSegment& segment) const {
        return &thread_.engine->cache.recorded_accesses[segment.first_access];
    }
    models::Core& core() { return core_; }
    models::Branches& branches() { return models_.branches; }
    /// Mispredicted branches have waited for so many cycles.
    void resolved(std::uint64_t cycles) { models_.stalls.resolved(cycles); }
    /// Whether branches are predicted.
    bool predicts() const { return predicts_; }
    /// Whether the thread has a branch stack that says what was mispredicted.
    bool notes_branches() const { return recorded_kinds_ != 0; }
    models::Core::Repeated& repeated() { return repeated_; }

  private:
    void replay_each(const RecordedSegment& segment, const RecordedAccess* access, const std::uint64_t* words,
                     unsigned from, unsigned to);
    std::uint64_t address_of_access(const RecordedAccess& access, const std::uint64_t* words);
    void fetch(const RecordedAccess& access);
    void touch(std::uint64_t pc, std::uint64_t address, unsigned bytes, models::Access kind, bool waits = false);
    std::uint64_t repeating(const RecordedAccess& access, std::uint64_t address, bool forward) const;
    void repeat(const RecordedAccess& one, const RecordedAccess* other, const std::uint64_t* words, std::uint64_t pc);

    Thread& thread_;
    ThreadModels& models_;
    models::Core& core_;
    models::Core::Repeated repeated_;
    std::uint64_t changed_lines_ = 0;
    bool measures_ = false;
    bool predicts_;
    std::uint8_t recorded_kinds_;  ///< of branches, in the thread's ring
};

/// Feeds the core with an access of `bytes` bytes that may not just repeat. Counts a load by its latency, and notes the
/// access if it is to be noted.
models::AccessFacts model_access(Thread& thread, ThreadModels& models, std::uint64_t pc, std::uint64_t address,
                                 unsigned bytes, models::Access kind);

/// The application's base of fs, from the kernel.
std::uint64_t read_fs_base();

/// The access of the models that this kind of recorded access is.
constexpr models::Access access_of(RecordedAccess::Kind kind) {
    switch (kind) {
        case RecordedAccess::Kind::modify: return models::Access::modify;
        case RecordedAccess::Kind::store:
        case RecordedAccess::Kind::store_while: return models::Access::store;
        default: return models::Access::load;
    }
}

}  // namespace anyperf::engine
