// state.h: what a process counts exactly, instruction by instruction (run/exact_counts.h has the memory).
//
// PROBLEM. `record --exact` wants to know how often each instruction has run, and who called whom how often, in all
// threads, whatever becomes of the code and of the process. Sampling each instruction would cost thousandfold.
//
// REJECTED. Cells inside of the code cache: they would have to be gathered when code leaves it, in every one of the
// ways in which that happens, and would be lost with a process that is killed. Cells that threads share: an addition
// with a lock prefix takes twenty cycles, without it counts are lost.
//
// MECHANISM. The prologue of each segment adds 1 to a cell of the running thread (x86_64/translate/count_exact.cpp).
// Cells lie at a constant distance from %gs, in memory that the recorder shares, so translations are the same for all
// threads. What a cell means is written down once, when its code is translated, with the time; nothing has to be done
// when code goes. The same code at the same address gets the same cells again, so that a small cache, or a JIT that
// writes the same code over and over, does not use them up. A segment that is left in the middle is corrected by
// another cell, "left before instruction 3". Direct calls need no cell: they end a segment. Indirect calls are appended
// to a list of the thread, which the engine counts when it is full.
//
// RACES. Records are appended under `lock`, a leaf: only own_pages' comes after it (freestanding/lock.h). The signal
// handler takes it, for a thread that was in translated code and so holds no lock. The lock is held over a fork.
//
// LIMITS. A thread that is killed has counted the segment that it was in as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/lock.h"
#include "run/exact_counts.h"

namespace anyperf::engine {

struct Engine;

/// Of a process.
class ExactCounts {
  public:
    using Record = run::exact::Record;
    using Length = run::exact::Length;
    /// The time in ns, on the clock of the recording.
    using Clock = std::uint64_t (*)(const Engine& engine);

    /// Whether this process counts exactly. Never changes after its start.
    bool on() const { return image_ != nullptr; }

    /// From here on the process has the image in unit `unit`, which lies at `image` in its memory. Cells that it has
    /// had already keep their meaning.
    void begin(run::exact::ImageHeader* image, std::uint32_t unit, Clock clock, const Engine& engine);

    run::exact::ImageHeader* image() const { return image_; }
    /// The first number that no record has given a meaning. Not that of the image's header, which the parent of a fork
    /// may have changed since.
    std::uint32_t cells() const { return cells_; }

    /// The first of the cells of a record, which has so many: the same as before for a record that differs in nothing
    /// but `cell`, `epoch` and the time, if the code is the same, of which `code` is a hash. 0 if there is no room.
    /// `lengths`: as many as the record has instructions. Takes the lock.
    std::uint32_t cell_for(Record record, std::uint32_t cells, const Length* lengths, std::uint64_t code);
    /// Of a record that has no instructions: it has one cell.
    std::uint32_t cell_for(const Record& record, std::uint64_t code = 0) { return cell_for(record, 1, nullptr, code); }

    Lock lock;                    ///< protects the records, what finds their cells, and the free areas
    std::uint32_t unit = 0;       ///< of the image
    std::uint32_t free_area = 0;  ///< 1 + the first of the areas whose thread has ended; 0: none
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
