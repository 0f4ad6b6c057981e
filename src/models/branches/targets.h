// targets.h: predicts the targets of indirect branches and returns.
//
// An indirect jump or call is predicted to go where it went the last time on the same path. A table has these targets,
// indexed by the address of the branch and the targets of the last indirect branches (K. Driesen and U. Hölzle,
// "Accurate indirect branch prediction", 1998). A return is predicted to go to the instruction after the last call that
// has not returned. A ring has these addresses; a call too many takes the place of the oldest.
//
// Both keep the low 32 bits of an address only. They keep them inverted, so that the sum of an address and what is kept
// is -1 if they are equal: x86 code compares so without a flag. Both are in memory of the caller, as generated code
// uses them, too (engine/x86_64/translate/predict.cpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/branches/sites.h"

namespace anyperf::models {

constexpr std::uint32_t kept_target(std::uint64_t address) {
    return ~static_cast<std::uint32_t>(address);
}

/// It uses memory of the caller: entries(bits) entries, and one word for the history, all 0 at first.
class IndirectTargets {
  public:
    IndirectTargets() = default;
    IndirectTargets(unsigned bits, std::uint32_t* memory, std::uint32_t* history)
        : targets_(memory), history_(history), bits_(bits) {}
    static constexpr std::size_t entries(unsigned bits) { return std::size_t{1} << bits; }

    /// True: the branch at `address` was predicted to go elsewhere.
    bool mispredicts(std::uint64_t address, std::uint64_t target) {
        std::uint32_t& last = targets_[site(bits_, address) + *history_ / kEntryBytes];
        const bool wrong = last != kept_target(target);
        last = kept_target(target);
        // A target moves by three bits with each one after it, so that some five targets are in a history of 14 bits.
        *history_ = (*history_ * 2 + hint(target)) * kEntryBytes & history_mask(bits_);
        return wrong;
    }

    static constexpr std::uint32_t kEntryBytes = sizeof(std::uint32_t);
    /// What enters the history of a target: eight bits of its place in its page. Pages are others in each run, where
    /// addresses are random. Of functions, which are mostly aligned to 16 bytes, they are as different as these.
    static constexpr std::uint32_t hint(std::uint64_t target) {
        return static_cast<std::uint32_t>(target * kHintFactor >> 8 & 0xff);
    }
    static constexpr std::uint64_t kHintFactor = std::uint64_t{9} * 16;
    /// What a site adds to the history for an index.
    static constexpr std::uint32_t site(unsigned bits, std::uint64_t address) {
        return static_cast<std::uint32_t>(mixed(address) >> (65 - bits));
    }
    /// The history is in bytes of the table.
    static constexpr std::uint32_t history_mask(unsigned bits) { return (std::uint32_t{1} << (bits + 1)) - 1; }

  private:
    std::uint32_t* targets_ = nullptr;
    std::uint32_t* history_ = nullptr;
    unsigned bits_ = 0;
};

/// A ring in memory of the caller, all 0 at first. Its position is in bytes. For a power of two of entries the ring has
/// 256 bytes, whatever their number, so that the low byte of the position is the position.
class ReturnStack {
  public:
    static constexpr std::size_t kMostEntries = 64;
    struct Ring {
        std::uint32_t top;
        std::uint32_t addresses[kMostEntries];
    };
    static constexpr std::uint32_t kEntryBytes = sizeof(std::uint32_t);
    static constexpr std::uint32_t kWholeRing = kMostEntries * kEntryBytes;
    static constexpr std::uint32_t step(unsigned entries) {
        return std::has_single_bit(entries) ? kWholeRing / entries : kEntryBytes;
    }

    ReturnStack() = default;
    ReturnStack(unsigned entries, Ring* ring) : ring_(ring), step_(step(entries)), bytes_(entries * step_) {}

    void call(std::uint64_t return_address) {
        ring_->top = ring_->top + step_ == bytes_ ? 0 : ring_->top + step_;
        ring_->addresses[ring_->top / kEntryBytes] = kept_target(return_address);
    }
    /// True: the return was predicted to go elsewhere.
    bool mispredicts(std::uint64_t target) {
        const std::uint32_t predicted = ring_->addresses[ring_->top / kEntryBytes];
        ring_->top = (ring_->top == 0 ? bytes_ : ring_->top) - step_;
        return predicted != kept_target(target);
    }

  private:
    Ring* ring_ = nullptr;
    std::uint32_t step_ = kEntryBytes;
    std::uint32_t bytes_ = kEntryBytes;
};

}  // namespace anyperf::models
