// record_stream.h: the buffer into which translated code writes what it accesses
// (x86_64/translate/record_accesses.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

/// The records that a thread has written since they were last drained. A record is several words.
struct RecordStream {
    static constexpr std::size_t kWords = 512;
    /// A segment may have several records, of which only the first checks whether there is room: those after it have at
    /// most a word more than registers for each of its 64 instructions.
    static constexpr std::size_t kMoreWords = std::size_t{64} * 5;
    static constexpr std::int64_t kEmpty = -static_cast<std::int64_t>(kWords * sizeof(std::uint64_t));
    static constexpr std::uint8_t kWhole = 0xff;

    std::int64_t top;  ///< where the next record begins, in bytes from the kWords of `words`: below 0 if there is room
    std::int64_t next_top;  ///< working memory of the prologue
    /// How many instructions of the last record's segment have run, if it was left in the middle. kWhole: all.
    std::uint8_t last_ran;
    std::uint64_t
        words[kWords + kMoreWords + 1];  ///< the last one only marks the end of the records while they are read
};

}  // namespace anyperf::engine
