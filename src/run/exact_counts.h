// exact_counts.h: the memory in which programs of an exact run (RunHeader::exact) count each instruction by its
// address. It is at the end of the run memory, in units of fixed size. A unit is handed out once and never freed, so
// counts survive however their process ends. Units are sparse: only used pages take memory.
//
// A process has one image, which says what its cells count, and an area for each of its threads, which holds the cells:
//
//   image   4 units: a header page, then records that are appended and never changed. Each gives one or more cells a
//           meaning: "cell 17 counts how often the two instructions at 0x401000 ran".
//   area    1 unit: a header page, indirect calls that are not counted yet, then the cells, 8 bytes each. A thread adds
//           to its own cells only, so no addition needs a lock. The count of a cell is the sum over all areas.
//
// An execve begins a new image. The child of a fork begins an image that inherits the cells of its parent up to the
// moment of the fork: its translated code counts in the same cell numbers, in areas of its own.
//
// Addresses are those of the process. A record has the time at which its code was translated. At that time the code was
// mapped at the address, so the samples that the recorder makes of the counts have that time.
//
// A program may write anything here, so a reader checks each number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::run::exact {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint64_t kUnitBytes = std::uint64_t{1} << 27;
inline constexpr std::uint32_t kUnits = 1u << 20;
inline constexpr std::uint32_t kImageUnits = 4;
inline constexpr std::uint64_t kImageBytes = kUnitBytes * kImageUnits;
/// Where the units begin in the run's memory: after all rings (broker/run_memory.h).
inline constexpr std::uint64_t kOffset = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kBytes = kUnitBytes * kUnits;

/// The first word of a unit's header.
enum class UnitKind : std::uint32_t { unused, image, area };

struct ImageHeader {
    UnitKind kind;
    std::int32_t pid;
    std::uint32_t parent;     ///< 1 + the unit of the image that the process was forked with; 0: none
    std::uint32_t inherited;  ///< its first own cell: lower ones mean what they mean in the parent
    std::uint64_t start_ns;   ///< when the process began this image
    std::uint64_t used;       ///< bytes of complete records
    std::uint32_t cells;      ///< the first cell without a meaning
    std::uint32_t full;       ///< 1: there was no room for some code, which was not counted
};
static_assert(sizeof(ImageHeader) <= kPage);

struct AreaHeader {
    UnitKind kind;
    std::int32_t pid;         ///< of the thread; the child of a vfork has its parent's image
    std::uint32_t image;      ///< the unit
    std::uint32_t unit;       ///< the unit of this area
    std::uint32_t next_free;  ///< 1 + the next area in the list of areas whose thread has ended; 0: none
    std::uint32_t unused;
    std::uint64_t start_ns;  ///< a time before its first thread counted
    std::int64_t position;   ///< where the next indirect call is written, in bytes from the end of the calls: below 0
    std::uint64_t saved[2];  ///< registers that translated code borrows while it writes an indirect call
};

/// An indirect call: the address that was called, and the cell of the block that the call ended.
struct IndirectCall {
    std::uint64_t target;
    std::uint64_t site;
};

inline constexpr std::int64_t kCallsBytes = 65536;
inline constexpr std::size_t kCallsOffset = kPage;
inline constexpr std::size_t kCellsOffset = kCallsOffset + kCallsBytes;
/// Cell numbers are below this, and 0 is not one.
inline constexpr std::uint32_t kCells = (kUnitBytes - kCellsOffset) / sizeof(std::uint64_t);

/// What a record gives a meaning to.
enum class RecordKind : std::uint8_t {
    none,
    block,        ///< a cell for each segment: how often it was entered
    call,         ///< one cell: how often the block with the cell `of` ended with a jump or call to `target`
    left,         ///< one cell: how often the segment with the cell `of` was left before its instruction `index`
    instruction,  ///< one cell: how often the instruction at `pc` ran by itself
    undone,       ///< one cell: how often the instruction at `pc` was counted and did not retire
};

/// How a block ends: with a direct call, with an indirect call or jump, or otherwise.
enum class BlockEnd : std::uint8_t { other, call, indirect };

struct Record {
    RecordKind kind;
    BlockEnd end;               ///< of a block
    std::uint8_t instructions;  ///< of a block: as many Lengths follow, padded to 8 bytes
    std::uint8_t index;         ///< of `left`
    std::uint32_t cell;         ///< its first cell
    std::uint32_t of;           ///< of `call` and `left`
    /// How often executable memory had been replaced by other memory. Within one epoch an address is in one mapping.
    std::uint32_t epoch;
    std::uint64_t pc;      ///< of a block or an instruction
    std::uint64_t target;  ///< of a call, or of the direct call that ends a block
    std::uint64_t time_ns;
};
static_assert(sizeof(Record) == 40);

/// One instruction of a block.
struct Length {
    std::uint8_t bytes : 4;
    std::uint8_t by_itself : 1;       ///< it is not counted by its segment, since it runs by itself
    std::uint8_t begins_segment : 1;  ///< it is the first of a segment, which has the next cell
    std::uint8_t unused : 2;
};
static_assert(sizeof(Length) == 1);

inline constexpr std::size_t kRecordsOffset = kPage;

constexpr std::uint64_t bytes_of(const Record& record) {
    return sizeof(Record) + (record.instructions + std::uint64_t{7}) / 8 * 8;
}

}  // namespace anyperf::run::exact
