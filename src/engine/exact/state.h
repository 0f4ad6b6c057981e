// state.h: the exact counts of a process, instruction by instruction (run/exact_counts.h describes the memory).
//
// The problem: `record --exact` needs to know how often each instruction has run, and how often each function has
// called each other one, in all threads, whatever happens to the code and to the process. A sample of each instruction
// would cost a thousand times as much.
//
// Rejected: cells in the code cache. They would have to be read whenever code leaves the cache, which happens in many
// ways, and would be lost with a process that is killed. Also rejected: cells that threads share. An addition with a
// lock prefix takes twenty cycles, and without the prefix counts are lost.
//
// The mechanism: the prologue of each segment adds 1 to a cell of the running thread
// (x86_64/translate/count_exact.cpp). Cells are at a constant distance from %gs, so all threads share one translation,
// and in memory that the recorder reads. A record of what a cell means is written once, when its code is translated,
// and has that time; nothing needs to be done when code leaves the cache. The same code at the same address gets the
// same cells again, so a small cache, or a JIT that writes the same code many times, does not use them up. If a segment
// is left in the middle, another cell counts that: "left before instruction 3". Direct calls need no cell, since they
// end a segment. Indirect calls are appended to a list of the thread, and the engine counts them when the list is full.
//
// The races: records are appended under `lock`. While it is held only the lock of own_pages is taken
// (freestanding/lock.h). The signal handler takes it, too, for a thread that was in translated code and so holds no
// lock. The lock is held over a fork.
//
// What it can't do: a thread that is killed has counted the whole segment that it was in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"
#include "run/exact_counts.h"

namespace anyperf::engine {

struct Engine;

/// The exact counts of one process.
class ExactCounts {
  public:
    using Record = run::exact::Record;
    using Length = run::exact::Length;
    /// The time in ns, on the clock of the recording.
    using Clock = std::uint64_t (*)(const Engine& engine);

    /// Whether this process counts exactly. Never changes after its start.
    bool on() const { return image_ != nullptr; }

    /// From now on the process has the image in unit `unit`, which is mapped at `image`. Cells that it had already keep
    /// their meaning.
    void begin(run::exact::ImageHeader* image, std::uint32_t unit, Clock clock, const Engine& engine);

    run::exact::ImageHeader* image() const { return image_; }
    /// The first cell without a meaning. The image's header is not read: the parent of a fork may have changed it.
    std::uint32_t cells() const { return cells_; }

    /// The first of `cells` cells for a record. A record that was given before, with the same `code` (a hash of its
    /// code), has its cells already; its `cell`, `epoch` and time are not compared. 0 if there is no room. `lengths`:
    /// as many as the record has instructions. Takes the lock.
    std::uint32_t cell_for(Record record, std::uint32_t cells, const Length* lengths, std::uint64_t code);
    /// The cell of a record without instructions.
    std::uint32_t cell_for(const Record& record, std::uint64_t code = 0) { return cell_for(record, 1, nullptr, code); }

    Lock lock;                    ///< protects the records, the table of their cells, and the list of free areas
    std::uint32_t unit = 0;       ///< of the image
    std::uint32_t free_area = 0;  ///< 1 + the first area in the list of areas whose thread has ended; 0: none
    std::uint32_t epoch = 0;      ///< Record::epoch of new records; written under the cache's lock

  private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint64_t pc = 0;
        std::uint32_t cell = 0;  ///< 0: the entry is empty
        std::uint32_t unused = 0;
    };
    Entry& slot_of(std::uint64_t key, std::uint64_t pc);
    bool grow();
    bool append(Record record, std::uint32_t cells, const Length* lengths);

    run::exact::ImageHeader* image_ = nullptr;
    Clock clock_ = nullptr;
    const Engine* engine_ = nullptr;
    std::uint32_t cells_ = 1;
    std::uint64_t used_ = 0;  ///< bytes of records in the image
    Entry* table_ = nullptr;  ///< open addressing
    std::size_t slots_ = 0;   ///< a power of two
    std::size_t filled_ = 0;
};

/// Mixes a value into a hash.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

}  // namespace anyperf::engine
