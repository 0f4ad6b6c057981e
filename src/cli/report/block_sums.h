// block_sums.h: the cycles of the blocks of a function, as `report --total-cycles` counts them. A block is the code
// from the target of a branch to the next branch, which the CPU notes with the cycles since the one before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace anyperf::cli {

/// All blocks that end at one branch. As in perf 6.1 they are one row, with the beginning of the longest.
struct Block {
    std::optional<std::uint64_t> start;  ///< none: none of them began in the function
    std::uint64_t cycles = 0;
    std::uint64_t count = 0;
};

/// The blocks of a function, by the address of the branch that ends them.
class BlockSums {
  public:
    /// `start`: where the block began, if that is before `end` in the same function.
    void add(std::optional<std::uint64_t> start, std::uint64_t end, std::uint64_t cycles) {
        Block& block = blocks_[end];
        block.cycles += cycles;
        ++block.count;
        if (start && (!block.start || *start < *block.start)) block.start = start;
    }
    const std::map<std::uint64_t, Block>& blocks() const { return blocks_; }

  private:
    std::map<std::uint64_t, Block> blocks_;
};

}  // namespace anyperf::cli
