// sites.h: which branches have gone one way only. A *site* is the place of a branch in the code.
//
// About half of the conditional branches that programs execute are at sites that never change their direction. A site
// that has gone one way only is predicted to go that way again, and takes no place in the predictor. This makes the
// predictor better, because fewer sites share its counters.
//
// Sites are distinguished by the low bits of their address. Two sites with the same bits are one site to the model.
// Neighbours in the code have neighbouring bytes, so that the sites of a loop take one line of the CPU's cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::models {

/// Mixes an address so that its high bits depend on all bits (Knuth's multiplicative hashing, by 2^64 over the golden
/// ratio).
inline constexpr std::uint64_t kMixing = 0x9e3779b97f4a7c15U;
constexpr std::uint64_t mixed(std::uint64_t address) {
    return address * kMixing;
}

/// It uses memory of the caller: bytes(bits) bytes, all 0 at first.
class Sites {
  public:
    enum class Kind : std::uint8_t { one_way, both_ways };

    Sites() = default;
    Sites(unsigned bits, std::uint8_t* memory) : directions_(memory), bits_(bits) {}
    static constexpr std::size_t bytes(unsigned bits) { return std::size_t{1} << bits; }

    struct Look {
        Kind kind;
        bool mispredicted;  ///< it was one_way until now, and went the other way for the first time
    };
    /// Notes the direction of a branch.
    Look note(std::uint64_t address, bool taken) {
        std::uint8_t& seen = directions_[index_of(address)];
        const std::uint8_t way = taken ? kTaken : kNotTaken;
        if (seen == kBoth) return {Kind::both_ways, false};
        const bool changes = seen != 0 && seen != way;
        seen = changes ? kBoth : way;
        return {Kind::one_way, changes};
    }

    // For generated code that does the same (engine/modelling/replay_code.cpp, engine/x86_64/translate/predict.cpp).

    static constexpr std::uint8_t kTaken = 1;
    static constexpr std::uint8_t kNotTaken = 2;
    /// With one more bit, so that a `test` with it and one way distinguishes this way, the other, and both.
    static constexpr std::uint8_t kBothBit = 0x80;
    static constexpr std::uint8_t kBoth = kTaken | kNotTaken | kBothBit;
    std::uint8_t* directions() const { return directions_; }
    static constexpr std::size_t index_of(unsigned bits, std::uint64_t address) {
        return (address ^ address >> bits) & ((std::uint64_t{1} << bits) - 1);
    }
    std::size_t index_of(std::uint64_t address) const { return index_of(bits_, address); }

  private:
    std::uint8_t* directions_ = nullptr;
    unsigned bits_ = 0;
};

}  // namespace anyperf::models
