// cache.h: one set-associative cache: which lines it holds, in which state, and which of them a new line replaces.
//
// The class knows no addresses, sizes or levels, only lines: a line's number is its address divided by the line size.
// caches/core.h joins caches to a hierarchy.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/machine.h"

namespace anyperf::models {

/// The state of a line in the caches of one core: MESI (SDM volume 3, section 12.4).
enum class LineState : std::uint8_t { invalid, shared, exclusive, modified };

constexpr bool present(LineState state) {
    return state != LineState::invalid;
}

/// The line that a new one replaced in a cache. `state` is `invalid` if the way was free.
struct Victim {
    std::uint64_t line = 0;
    LineState state = LineState::invalid;

    constexpr bool exists() const { return present(state); }
};

/// The bits of tree-PLRU.
///
/// The tree is a heap of bits: node 1 is the root, the children of node n are 2n and 2n + 1, and the leaves are the
/// ways. A bit says which half was used longer ago: 0 the lower, 1 the upper. A use of a way points the nodes from its
/// leaf to the root away from it. Which bits these are, and what they become, is a row of a table by leaf.
struct TreePlru {
    struct Path {
        std::uint64_t others = ~std::uint64_t{0};  ///< all bits but those of the nodes above the leaf
        std::uint64_t away = 0;                    ///< what these become
    };
    static constexpr std::size_t kMostWays = 32;  ///< machines/machine_fields.h has no more
    /// The leaf to which the bits point, in a tree of so many levels.
    static constexpr unsigned victim(std::uint64_t bits, unsigned levels) {
        std::uint64_t node = 1;
        for (; levels != 0; --levels) node = node * 2 + (bits >> node & 1);
        return static_cast<unsigned>(node);
    }
    /// The leaves of a tree with n ways are numbered from n to 2n - 1, so one table serves trees of all sizes.
    static constexpr std::array<Path, 2 * kMostWays> paths() {
        std::array<Path, 2 * kMostWays> made{};
        for (std::size_t leaf = 2; leaf < made.size(); ++leaf) {
            for (std::size_t node = leaf; node > 1; node /= 2) {
                made[leaf].others &= ~(std::uint64_t{1} << (node / 2));
                if (node % 2 == 0) made[leaf].away |= std::uint64_t{1} << (node / 2);
            }
        }
        return made;
    }
};
inline constexpr auto kTreePaths = TreePlru::paths();

/// A cache over memory of the caller. All bytes 0 is an empty cache.
///
/// Each set is an array of ways, one word each: the line's number above three bits, two of them its state. Under LRU
/// the ways are ordered from the most to the least recently used line. Otherwise a line stays in its way, and one more
/// word for each set has the policy's bits. A set of that kind also has a byte for each way, of the number of the line
/// that was there last: a look-up compares eight bytes at a time, and then the ways whose byte is equal. A small cache
/// of that kind has a table of hints, too: in which way a line was last. A hint may be wrong; the way is compared
/// before it is used. Each set also has the number of its valid ways.
///
/// What each access may need is inline: the engine is compiled without optimisation over files.
class Cache {
  public:
    Cache() = default;
    /// @param memory words(geometry) words, which outlive the cache
    Cache(const CacheGeometry& geometry, std::uint64_t* memory);

    /// How many words of memory a cache needs.
    static constexpr std::size_t words(const CacheGeometry& geometry) {
        const std::size_t rest = geometry.replacement == Replacement::lru ? 0 : 1 + byte_words_of(geometry);
        return geometry.sets * (geometry.ways + rest) + hints_of(geometry) / sizeof(std::uint64_t) +
               (geometry.sets * sizeof(std::uint16_t) + 7) / 8;
    }

    /// Looks a line up and makes it its set's most recent. Returns its state, or `invalid` if the line is absent.
    LineState touch(std::uint64_t line) {
        if (!exists()) return LineState::invalid;
        const unsigned way = way_of(line);
        if (way == kAbsent) return LineState::invalid;
        const LineState state = state_of(set_of(line)[way]);
        make_recent(line, way);
        return state;
    }
    /// The state of a line; the order of its set does not change.
    LineState find(std::uint64_t line) const {
        if (!exists()) return LineState::invalid;
        const unsigned way = way_of(line);
        return way == kAbsent ? LineState::invalid : state_of(set_of(line)[way]);
    }
    /// Adds an absent line as its set's most recent. Returns the line that it replaced.
    [[gnu::always_inline]] Victim insert(std::uint64_t line, LineState state) {
        if (!exists()) return {};
        const unsigned way = way_to_free(line);
        std::uint64_t* const set = set_of(line);
        const Victim victim{line_of(set[way]), state_of(set[way])};
        const std::uint64_t word = word_of(line, state);
        if (replacement_ == Replacement::lru) {
            for (unsigned i = way; i > 0; --i) set[i] = set[i - 1];
            set[0] = word;
            return victim;
        }
        set[way] = word;
        note_byte(line, way);
        if (hints_ != nullptr) hints_[line & hint_mask_] = static_cast<std::uint8_t>(way);
        make_recent(line, way);
        return victim;
    }
    /// Under LRU, if all lines have one state: does what touch() does, and insert() if the line is absent. Returns
    /// whether it was present. One walk finds the line and moves those before it back.
    bool touch_or_insert(std::uint64_t line, LineState state) {
        if (!exists()) return false;
        std::uint64_t* const set = set_of(line);
        const std::uint64_t word = word_of(line, state);
        std::uint64_t moved = word;
        for (unsigned way = 0; way < way_count_; ++way) {
            const std::uint64_t here = set[way];
            set[way] = moved;
            if (here == word) return true;
            moved = here;
        }
        if (moved == 0) [[unlikely]]
            ++taken_[line & set_mask_];
        return false;
    }
    /// Changes the state of a line that is present; an absent line stays absent.
    void set_state(std::uint64_t line, LineState state);
    /// Removes a line. Returns the state that it had, or `invalid` if it was absent.
    LineState remove(std::uint64_t line);

    bool exists() const { return sets_ != 0; }
    /// A look-up of the line follows: brings what it needs into the CPU's own caches. A set of a large cache is seldom
    /// there, and the look-ups of several levels need not wait for each other's.
    void expect(std::uint64_t line) const {
        if (!exists()) return;
        if (bytes_ == nullptr) return __builtin_prefetch(set_of(line));
        __builtin_prefetch(bytes_of(line));
        __builtin_prefetch(&policy_of(line));
    }

    // What most misses of the first level ask the second one, in few instructions. Precondition: has_paths().

    /// It has hints and is of tree-PLRU.
    bool has_paths() const { return hints_ != nullptr && replacement_ == Replacement::tree_plru; }
    /// As expect(), if its hint finds the line.
    [[gnu::always_inline]] void expect_by_hint(std::uint64_t line) const {
        __builtin_prefetch(&ways_[((line & set_mask_) << way_shift_) + hints_[line & hint_mask_]]);
    }
    /// touch() of a line that its hint finds; else nothing changes, and it returns `invalid`.
    [[gnu::always_inline]] LineState touch_by_hint(std::uint64_t line) {
        const std::size_t set = line & set_mask_;
        const unsigned way = hints_[line & hint_mask_];
        const std::uint64_t word = ways_[(set << way_shift_) + way];
        if (!is_word_of(word, line)) return LineState::invalid;
        const TreePlru::Path& path = kTreePaths[way_count_ + way];
        policy_[set] = (policy_[set] & path.others) | path.away;
        return state_of(word);
    }
    /// Makes a line that its hint finds modified, if `victim` is. False: the hint does not find it.
    [[gnu::always_inline]] bool take_back_by_hint(Victim victim) {
        const std::size_t set = victim.line & set_mask_;
        const unsigned way = hints_[victim.line & hint_mask_];
        std::uint64_t& word = ways_[(set << way_shift_) + way];
        if (!is_word_of(word, victim.line)) return false;
        static_assert(static_cast<unsigned>(LineState::modified) == kStateMask);
        // Whether a victim is modified no branch predictor foresees.
        word |= victim.state == LineState::modified ? kStateMask : 0;
        return true;
    }

    // A way is one word, and 0 is an invalid way. A line's number leaves room for three bits: lines have at least 16
    // bytes (machines/machine_fields.h), so numbers have at most 60 bits, and a TLB marks large pages by bit 60
    // (tlb.h).
    static constexpr unsigned kLineShift = 3;

    // For a caller that decides by the state whether it touches. Precondition: exists().

    static constexpr unsigned kAbsent = ~0U;
    /// Whether it is sure at a glance that the cache lacks the line: the bytes of its set are one word and say so.
    [[gnu::always_inline]] bool surely_lacks(std::uint64_t line) const {
        return byte_words_ == 1 && equal_bytes(*bytes_of(line), byte_of(line) * kOnes) == 0;
    }
    /// The way of a line, or kAbsent. It is valid until the set changes.
    unsigned way_of(std::uint64_t line) const {
        if (hints_ == nullptr) return search(line);
        const unsigned hint = hints_[line & hint_mask_];
        if (is_word_of(set_of(line)[hint], line)) return hint;
        return surely_lacks(line) ? kAbsent : search_and_note(line);
    }
    void set_state_in(std::uint64_t line, unsigned way, LineState state) {
        std::uint64_t& word = set_of(line)[way];
        word = (word & ~kStateMask) | static_cast<std::uint64_t>(state);
    }
    /// Makes the line, which is in this way, its set's most recent.
    void make_recent(std::uint64_t line, unsigned way) {
        if (replacement_ != Replacement::tree_plru) return make_recent_otherwise(line, way);
        const TreePlru::Path& path = kTreePaths[way_count_ + way];
        std::uint64_t& bits = policy_of(line);
        bits = (bits & path.others) | path.away;
    }

  private:
    static constexpr std::uint64_t kStateMask = 3;

    static constexpr std::uint64_t word_of(std::uint64_t line, LineState state) {
        return line << kLineShift | static_cast<std::uint64_t>(state);
    }
    static constexpr LineState state_of(std::uint64_t word) { return static_cast<LineState>(word & kStateMask); }
    static constexpr std::uint64_t line_of(std::uint64_t word) { return word >> kLineShift; }
    /// The state is compared as well: an invalid way may still hold the number 0. What a word of the line in any valid
    /// state differs by from one in the invalid state is the state, 1 to 3.
    static constexpr bool is_word_of(std::uint64_t word, std::uint64_t line) {
        return (word ^ line << kLineShift) - 1 < kStateMask;
    }

    /// The hints of a larger cache would not stay in the CPU's own first level.
    static constexpr std::size_t kMostHintedLines = 32768;
    static constexpr std::size_t kFewLines = 4096;

    /// How many hints a cache has, a byte each, a power of two. Few of a first level's lines share one.
    static constexpr std::size_t hints_of(const CacheGeometry& geometry) {
        const std::size_t lines = std::size_t{geometry.sets} * geometry.ways;
        const bool hinted = geometry.replacement != Replacement::lru && geometry.ways <= 255 && lines >= 8;
        return hinted && lines <= kMostHintedLines ? (lines <= kFewLines ? 8 : 2) * std::bit_ceil(lines) : 0;
    }
    static constexpr unsigned kBytesOfWord = 8;
    static constexpr unsigned byte_words_of(const CacheGeometry& geometry) {
        return (geometry.ways + kBytesOfWord - 1U) / kBytesOfWord;
    }
    std::uint64_t* bytes_of(std::uint64_t line) const { return bytes_ + (line & set_mask_) * byte_words_; }
    std::uint64_t byte_of(std::uint64_t line) const { return line >> set_bits_ & 0xff; }
    /// Writes the whole word: a look-up that reads it soon does not wait for it then.
    void note_byte(std::uint64_t line, unsigned way) {
        std::uint64_t& word = bytes_of(line)[way / kBytesOfWord];
        const unsigned shift = way % kBytesOfWord * 8;
        word = (word & ~(std::uint64_t{0xff} << shift)) | byte_of(line) << shift;
    }
    std::uint64_t* set_of(std::uint64_t line) const { return ways_ + (line & set_mask_) * way_count_; }
    std::uint64_t& policy_of(std::uint64_t line) const { return policy_[line & set_mask_]; }
    unsigned search_and_note(std::uint64_t line) const;
    unsigned search(std::uint64_t line) const {
        if (bytes_ == nullptr) return search_words(line);
        const std::uint64_t* const bytes = bytes_of(line);
        const std::uint64_t* const set = set_of(line);
        const std::uint64_t wanted = byte_of(line) * kOnes;
        // Two words at a time: in which of them a line is, no branch predictor foresees.
        for (unsigned i = 0; i < byte_words_; i += 2) {
            std::uint64_t equal = equal_bytes(bytes[i], wanted) >> 7;
            if (i + 1U < byte_words_) equal |= equal_bytes(bytes[i + 1], wanted) >> 3;
            for (; equal != 0; equal &= equal - 1) {
                const auto bit = static_cast<unsigned>(__builtin_ctzll(equal));
                const unsigned way = (i + (bit >> 2 & 1)) * kBytesOfWord + bit / 8;
                if (way < way_count_ && is_word_of(set[way], line)) return way;
            }
        }
        return kAbsent;
    }
    static constexpr std::uint64_t kOnes = 0x0101010101010101;
    /// The upper bit of each byte that is equal in both; of some others as well.
    static constexpr std::uint64_t equal_bytes(std::uint64_t one, std::uint64_t other) {
        const std::uint64_t differing = one ^ other;
        return (differing - kOnes) & ~differing & kOnes << 7;
    }
    unsigned search_words(std::uint64_t line) const;
    void make_recent_otherwise(std::uint64_t line, unsigned way);
    /// A free way if the set has one, which is taken then; else the way of the line to replace.
    unsigned way_to_free(std::uint64_t line) {
        std::uint16_t& taken = taken_[line & set_mask_];
        if (taken != way_count_) [[unlikely]] {
            ++taken;
            return free_way(line);
        }
        switch (replacement_) {
            case Replacement::lru: break;
            case Replacement::tree_plru: return TreePlru::victim(policy_of(line), way_shift_) - way_count_;
            case Replacement::not_recently_used: {
                // If the set has a single way, its bit is always set.
                const unsigned way = static_cast<unsigned>(__builtin_ctzll(~policy_of(line)));
                return way < way_count_ ? way : 0;
            }
        }
        return way_count_ - 1U;
    }
    unsigned free_way(std::uint64_t line);

    std::uint64_t* ways_ = nullptr;
    std::uint64_t* policy_ = nullptr;  ///< null under LRU
    std::uint64_t* bytes_ = nullptr;   ///< null under LRU
    std::uint8_t* hints_ = nullptr;    ///< null: without hints
    std::uint16_t* taken_ = nullptr;   ///< how many ways of each set are valid
    std::size_t hint_mask_ = 0;
    std::uint64_t set_mask_ = 0;
    unsigned way_shift_ = 0;  ///< log2 of the ways, if they are a power of two
    std::uint32_t sets_ = 0;
    std::uint16_t way_count_ = 0;
    std::uint16_t byte_words_ = 0;  ///< of a set; 0 under LRU
    std::uint8_t set_bits_ = 0;     ///< log2 of the sets
    Replacement replacement_ = Replacement::lru;
};

}  // namespace anyperf::models
