// replay.h: replays recorded segments of one thread in its models. What the records mean: cache/recorded_segment.h.
//
// A segment has one list of what its code does in memory, in order: accesses, and fetches that begin or end in another
// line than the instruction before them ended in. All other fetches hit the line that was touched last and change
// nothing, so they are only counted, as are accesses that repeat (Core::repeats_access()). One thing can come between
// two fetches of a line: a data access that makes an inclusive last level take the line away. Then the rest of the
// segment is replayed instruction by instruction.
//
// Segments that are replayed often have code of their own for it (replay_code.h), which calls the functions here for
// what does not repeat.
#pragma once

#include <cstdint>

#include "engine/cache/recorded_segment.h"
#include "engine/engine.h"
#include "engine/modelling/thread_models.h"

namespace anyperf::engine {

/// For one drain. The lock of the models is held.
class Replay {
  public:
    Replay(Thread& thread, ThreadModels& models);

    /// All of a segment but its branch. `words`: its record.
    void whole(const RecordedSegment& segment, const std::uint64_t* words);
    /// Of a segment that was left in the middle, the first `ran` instructions.
    void part(const RecordedSegment& segment, const std::uint64_t* words, unsigned ran) {
        replay_each(segment, first_access(segment), words, 0, ran);
    }
    /// The segment's last instruction went to `next`. A conditional branch to the instruction after it counts as not
    /// taken.
    void branch(const RecordedSegment& segment, std::uint64_t next);
    /// Replays one access or fetch, or both accesses of a REP string instruction. Returns the next one. The list ends
    /// at `end`; the instruction is at `pc`.
    const RecordedAccess* replay(const RecordedAccess* access, const RecordedAccess* end, const std::uint64_t* words,
                                 std::uint64_t pc);
    /// Replays what comes after `last` in a segment of which the code lines were touched up to there; whole() counts
    /// all its fetches in advance. `access`: the first after `last`.
    void rest(const RecordedSegment& segment, const RecordedAccess& last, const RecordedAccess* access,
              const std::uint64_t* words);
    /// To be called after the last segment.
    void finish() { core_.count_repeated(repeated_); }

    const RecordedAccess* first_access(const RecordedSegment& segment) const {
        return &thread_.engine->cache.recorded_accesses[segment.first_access];
    }
    models::Core& core() { return core_; }
    models::Branches& branches() { return models_.branches; }
    models::Core::Repeated& repeated() { return repeated_; }

  private:
    void replay_each(const RecordedSegment& segment, const RecordedAccess* access, const std::uint64_t* words,
                     unsigned from, unsigned to);
    std::uint64_t address_of_access(const RecordedAccess& access, const std::uint64_t* words);
    std::uint64_t fs_base();
    void fetch(const RecordedAccess& access);
    void touch(std::uint64_t pc, std::uint64_t address, unsigned bytes, models::Access kind);
    void repeat(const RecordedAccess& one, const RecordedAccess* other, const std::uint64_t* words, std::uint64_t pc);

    Thread& thread_;
    ThreadModels& models_;
    models::Core& core_;
    models::Core::Repeated repeated_;
};

/// The application's base of fs, which the kernel has.
std::uint64_t read_fs_base();

/// How an access of this kind touches its operand.
models::Access access_of(RecordedAccess::Kind kind);

}  // namespace anyperf::engine
