// first_level.h: a cache or TLB of the first level, in which nearly every access finds what it wants.
//
// PROBLEM. Each access that hits changes the order in which its set was used. The bits of tree-PLRU, or the order of a
// set of LRU, are read, changed and written then. One access in eight hits another line than the last one in its set
// did, which no branch predictor foresees, so that it costs more than the others to find that out.
//
// MECHANISM. The order is needed only where a line is replaced. So a hit just writes down when it was: a clock of the
// core counts accesses. From these times follows which way LRU replaces, and which one tree-PLRU does: each bit of its
// tree points away from the half that was used last. So a hit is a look-up of the line's place, a comparison and one
// store, whichever line of the set it is.
//
// A hit is *plain* if the time is all that it changes. It is not if
// - it stores to a line that is not modified,
// - it is the first one after a prefetch has brought the line (its mark),
// - the line is dormant: the first TLB may lack its page (page_times.h),
// - the cache replaces lines that were not used recently, and the line has no mark of use. These marks depend on more
//   than the last use of each line, so they are bits of a word for each set, as in cache.h.
//
// Each way has, beside its word, the number of the line that a plain load finds there, that of a plain store, and its
// time: an entry of four words. So a hit touches one line of the CPU's own cache beside that of the hint.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/caches/cache.h"
#include "models/machine.h"

namespace anyperf::models {

class FirstLevel {
  public:
    /// The number of the first word of a way's entry.
    using Place = std::uint32_t;
    static constexpr Place kAbsent = ~Place{0};

    FirstLevel() = default;
    /// @param memory words(geometry) words, all 0, which outlive the cache
    /// @param clock of the core; it only rises
    /// @param any_state whether a store to a line in any state is plain
    FirstLevel(const CacheGeometry& geometry, std::uint64_t* memory, std::uint64_t& clock, bool any_state = false);

    /// How many words of memory a cache needs.
    static constexpr std::size_t words(const CacheGeometry& geometry) {
        return kEntryWords * lines_of(geometry) + 2 * std::size_t{geometry.sets} + hint_words_of(geometry) +
               (geometry.sets * sizeof(std::uint16_t) + 7) / 8;
    }

    bool exists() const { return sets_ != 0; }
    /// Where the hint says that the line is. It may be anywhere in the line's set, or absent. Precondition: hinted().
    Place hinted_place(std::uint64_t line) const { return hints_[line & hint_mask_]; }
    bool hinted() const { return hints_ != nullptr; }
    /// Whether a load, or a store, of the line is a hit at this place, and plain.
    bool is_plain(Place place, std::uint64_t line, bool stores) const {
        return entries_[place + (stores ? kStores : kLoads)] == line;
    }
    /// Where the line is. Valid until another line takes the place.
    Place place_of(std::uint64_t line) const {
        if (!exists()) return kAbsent;
        if (hints_ != nullptr && is_word_of(entries_[hinted_place(line)], line)) return hinted_place(line);
        return surely_lacks(line) ? kAbsent : search(line);
    }
    /// Whether it is sure at a glance that the cache lacks the line: the bytes of its set are one word and say so.
    [[gnu::always_inline]] bool surely_lacks(std::uint64_t line) const {
        return has_bytes_ && equal_bytes(bytes_[line & set_mask_], byte_of(line) * kOnes) == 0;
    }
    /// The state of a line; nothing changes.
    LineState find(std::uint64_t line) const {
        const Place place = place_of(line);
        return place == kAbsent ? LineState::invalid : state_at(place);
    }
    LineState state_at(Place place) const { return state_of(entries_[place]); }
    /// Changes the state of a line, not its mark.
    void set_state_at(Place place, LineState state) {
        put(place, (entries_[place] & ~kStateMask) | static_cast<std::uint64_t>(state));
    }
    /// An absent line stays absent.
    void set_state(std::uint64_t line, LineState state) {
        const Place place = place_of(line);
        if (place != kAbsent) set_state_at(place, state);
    }
    /// Whether the line has its mark, which it loses.
    bool take_mark_at(Place place) {
        const std::uint64_t word = entries_[place];
        if ((word & kMark) == 0) return false;
        put(place, word & ~kMark);
        return true;
    }
    /// Where a line is that is surely there.
    Place present_place_of(std::uint64_t line) const {
        if (hints_ != nullptr && is_word_of(entries_[hinted_place(line)], line)) [[likely]]
            return hinted_place(line);
        return search(line);
    }
    /// Makes a line dormant: no access to it is plain until it wakes.
    void rest_at(Place place) {
        entries_[place] |= kDormant;
        entries_[place + kLoads] = entries_[place + kStores] = kNone;
    }
    void rest() {
        for (Place place = 0; place != end(); place += kEntryWords)
            if (present(state_at(place))) rest_at(place);
    }
    /// Wakes all lines. Before, calls `f` with each line that was not dormant and has no mark, and when it was used.
    template <class F>
    void wake(F f) {
        for (Place place = 0; place != end(); place += kEntryWords) {
            if (present(state_at(place)) && time_at(place) != 0) f(line_of(entries_[place]), time_at(place));
            wake_at(place);
        }
    }
    void wake_at(Place place) {
        if ((entries_[place] & kDormant) != 0) put(place, entries_[place] & ~kDormant);
    }
    /// When the line was used last, and its page by it; 0 if it is dormant or has its mark: then its page was not used
    /// by it since, or it was not used at all.
    std::uint64_t time_at(Place place) const {
        return (entries_[place] & (kDormant | kMark)) == 0 ? entries_[place + kTime] : 0;
    }
    /// The line, which is there, is used.
    [[gnu::always_inline]] void use(Place place, std::uint64_t line) {
        entries_[place + kTime] = ++*clock_;
        if (replacement_ == Replacement::not_recently_used) [[unlikely]]
            mark_used(place, line & set_mask_);
    }
    /// Adds an absent line and uses it. Returns the line that it replaced. Precondition: exists().
    Victim insert(std::uint64_t line, LineState state, bool marked = false) {
        return insert(line, state, marked, false, [](std::uint64_t, std::uint64_t) {});
    }
    /// The same. `dormant`: the line is. Before, calls `leave` with the line that it replaces, and its time_at().
    template <class Leave>
    [[gnu::always_inline]] Victim insert(std::uint64_t line, LineState state, bool marked, bool dormant, Leave leave) {
        const std::uint64_t set = line & set_mask_;
        const unsigned way = way_to_free(set);
        const Place place = first_of(set) + kEntryWords * way;
        const Victim victim{line_of(entries_[place]), state_of(entries_[place])};
        if (victim.exists()) leave(victim.line, time_at(place));
        put(place,
            line << kLineShift | static_cast<std::uint64_t>(state) | (marked ? kMark : 0) | (dormant ? kDormant : 0));
        if (has_bytes_) note_byte(set, way, byte_of(line));
        if (hints_ != nullptr) hints_[line & hint_mask_] = static_cast<std::uint16_t>(place);
        use(place, line);
        return victim;
    }
    // Of a TLB: its pages come by use_or_insert() alone, none is removed, and all have one state. No page is stored to,
    // so the word for plain stores has a bit for each part of the page (page_times.h).

    /// Uses a page that was perhaps not there. Returns whether it was. Precondition: LRU. One walk finds the page or
    /// the one to replace. `may_lose(page, parts, time)` is asked about that: whether it was not used after `time`. If
    /// not, `time` becomes when it was used last; else the page is lost.
    template <class MayLose>
    [[gnu::always_inline]] bool use_or_insert(std::uint64_t page, LineState state, MayLose may_lose) {
        const Place first = first_of(page & set_mask_);
        const std::uint64_t word = page << kLineShift | static_cast<std::uint64_t>(state);
        unsigned way = way_count_;
        for (unsigned i = 0; i < way_count_; ++i)
            way = entries_[first + std::size_t{kEntryWords} * i] == word ? i : way;
        // Seldom: its hint would have found it.
        const bool held = way != way_count_;
        if (!held) [[likely]]
            way = free_page(first, may_lose);
        const Place place = first + kEntryWords * way;
        entries_[place] = word;
        entries_[place + kLoads] = page;
        entries_[place + kTime] = ++*clock_;
        if (hints_ != nullptr) hints_[page & hint_mask_] = static_cast<std::uint16_t>(place);
        return held;
    }
    std::uint64_t& parts_at(Place place) { return entries_[place + kStores]; }
    void forget_parts() {
        for (Place place = 0; place != end(); place += kEntryWords) parts_at(place) = 0;
    }
    /// The page was used then.
    void note_time_at(Place place, std::uint64_t time) {
        entries_[place + kTime] = std::max(entries_[place + kTime], time);
    }
    /// The line may be looked for and inserted: brings its set into the CPU's own caches.
    [[gnu::always_inline]] void expect(std::uint64_t line) const {
        constexpr unsigned kWaysOfLine = 2;  // of the CPU's own cache
        const std::uint64_t* const set = entries_ + first_of(line & set_mask_);
        for (unsigned way = 0; way < 8; way += kWaysOfLine) __builtin_prefetch(set + std::size_t{kEntryWords} * way);
    }
    /// Removes a line. Returns the state that it had, or `invalid` if it was absent.
    LineState remove(std::uint64_t line);
    /// Whether nothing else in its set was used since.
    bool is_most_recent(Place place) const {
        const Place first = place - place % (kEntryWords * way_count_);
        std::uint64_t latest = 0;
        for (unsigned way = 0; way < way_count_; ++way)
            latest = std::max(latest, entries_[first + kEntryWords * way + kTime]);
        return entries_[place + kTime] == latest;
    }

    /// Where its parts lie, for generated code, in bytes from `from`. `loads`, `stores` and `times` are of the entry at
    /// place 0, each place is a word further.
    struct Places {
        bool hinted = false;  ///< the rest is of a cache with hints
        std::int64_t hints = 0;
        std::int64_t loads = 0;
        std::int64_t stores = 0;
        std::int64_t times = 0;
        std::uint64_t hint_mask = 0;  ///< of a line's number: its hint, of two bytes
    };
    Places places(const void* from) const;

  private:
    static constexpr unsigned kLineShift = 4;
    static constexpr std::uint64_t kStateMask = 3;
    static constexpr std::uint64_t kMark = 4;
    static constexpr std::uint64_t kDormant = 8;
    static constexpr std::uint64_t kLowMask = kStateMask | kMark | kDormant;
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< lines have at most 60 bits (cache.h)
    static constexpr unsigned kMostByteWays = 8;
    // The words of an entry, after that of the way itself. These are not arrays: of 512 words they would lie 4 KiB
    // apart, and a CPU that compares the low 12 bits of addresses first takes a load for one of what was just stored,
    // so that each hit waits for the one before.
    static constexpr unsigned kLoads = 1;
    static constexpr unsigned kStores = 2;
    static constexpr unsigned kTime = 3;
    static constexpr unsigned kEntryWords = 4;

    static constexpr LineState state_of(std::uint64_t word) { return static_cast<LineState>(word & kStateMask); }
    static constexpr std::uint64_t line_of(std::uint64_t word) { return word >> kLineShift; }
    /// As in cache.h, with the mark or without it, dormant or not. An invalid way is neither.
    static constexpr bool is_word_of(std::uint64_t word, std::uint64_t line) {
        return (word ^ line << kLineShift) - 1 < kLowMask;
    }

    static constexpr std::size_t lines_of(const CacheGeometry& geometry) {
        return std::size_t{geometry.sets} * geometry.ways;
    }
    /// A power of two, at least the number of sets. Few lines of a cache share a hint. 0: a place does not fit a hint.
    static constexpr std::size_t hints_of(const CacheGeometry& geometry) {
        constexpr std::size_t kFewLines = 4096;
        constexpr std::size_t kMostLines = 65536 / kEntryWords;
        const std::size_t lines = lines_of(geometry);
        if (lines == 0 || lines > kMostLines) return 0;
        return (lines <= kFewLines ? 8 : 2) * std::bit_ceil(lines);
    }
    static constexpr std::size_t hint_words_of(const CacheGeometry& geometry) {
        return (hints_of(geometry) * sizeof(std::uint16_t) + 7) / 8;
    }

    /// The place after the last one.
    Place end() const { return first_of(sets_); }
    Place first_of(std::uint64_t set) const { return static_cast<Place>(set * way_count_ * kEntryWords); }
    /// Changes a way's word, and what is plain there.
    [[gnu::always_inline]] void put(Place place, std::uint64_t word) {
        entries_[place] = word;
        const std::uint64_t state = word & kLowMask;  // or a mark, or dormant
        const bool plain = state - 1 < kMark - 1 && is_used(place);
        const bool modified = any_state_ || state == static_cast<std::uint64_t>(LineState::modified);
        entries_[place + kLoads] = plain ? line_of(word) : kNone;
        entries_[place + kStores] = plain && modified ? line_of(word) : kNone;
    }
    bool is_used(Place place) const {
        if (replacement_ != Replacement::not_recently_used) [[likely]]
            return true;
        const unsigned way = place / kEntryWords;
        return (used_[way / way_count_] >> way % way_count_ & 1) != 0;
    }
    std::uint64_t byte_of(std::uint64_t line) const { return line >> set_bits_ & 0xff; }
    /// Writes the whole word: a look-up that reads it soon does not wait for it then.
    void note_byte(std::uint64_t set, unsigned way, std::uint64_t byte) {
        const unsigned shift = way * 8;
        bytes_[set] = (bytes_[set] & ~(std::uint64_t{0xff} << shift)) | byte << shift;
    }
    static constexpr std::uint64_t kOnes = 0x0101010101010101;
    /// The upper bit of each byte that is equal in both; of some others as well.
    static constexpr std::uint64_t equal_bytes(std::uint64_t one, std::uint64_t other) {
        const std::uint64_t differing = one ^ other;
        return (differing - kOnes) & ~differing & kOnes << 7;
    }
    Place search(std::uint64_t line) const;
    void mark_used(Place place, std::uint64_t set);
    /// The way for a page in the set that begins there.
    template <class MayLose>
    [[gnu::always_inline]] unsigned free_page(Place first, MayLose may_lose) {
        for (;;) {
            const unsigned way = way_count_ == 4 ? oldest_of(entries_ + first + kTime, 4)
                                                 : oldest_of(entries_ + first + kTime, way_count_);
            const Place place = first + kEntryWords * way;
            const std::uint64_t word = entries_[place];
            if (word == 0 || may_lose(line_of(word), parts_at(place), entries_[place + kTime])) return way;
        }
    }
    /// A free way if the set has one, which is taken then; else the way of the line to replace.
    [[gnu::always_inline]] unsigned way_to_free(std::uint64_t set) {
        if (taken_[set] != way_count_) [[unlikely]] {
            ++taken_[set];
            return free_way(set);
        }
        if (replacement_ == Replacement::tree_plru && way_count_ == 8)
            return tree_victim<8>(entries_ + first_of(set) + kTime).way;
        return victim_of(set);
    }
    // Which way is replaced no branch predictor foresees. `times` are those of the last uses of some ways, an entry
    // apart.

    struct Candidate {
        std::uint64_t time;  ///< when any of the ways was used last
        unsigned way;        ///< that would be replaced
    };
    /// In each node of the tree it comes from the half that was used longer ago.
    template <unsigned kWays>
    [[gnu::always_inline]] static Candidate tree_victim(const std::uint64_t* times) {
        if constexpr (kWays == 1) {
            return {times[0], 0};
        } else {
            const Candidate lower = tree_victim<kWays / 2>(times);
            const Candidate upper = tree_victim<kWays / 2>(times + std::size_t{kEntryWords} * (kWays / 2));
            return {std::max(lower.time, upper.time),
                    chosen(lower.time > upper.time, lower.way, kWays / 2 + upper.way)};
        }
    }
    /// Without a branch, which compilers make of a conditional expression.
    template <typename Number>
    static constexpr Number chosen(bool second, Number one, Number other) {
        return one ^ ((one ^ other) & (Number{0} - static_cast<Number>(second)));
    }
    static unsigned oldest_of(const std::uint64_t* times, unsigned ways) {
        unsigned oldest = 0;
        std::uint64_t time = times[0];
        for (unsigned way = 1; way < ways; ++way) {
            const std::uint64_t own = times[std::size_t{kEntryWords} * way];
            oldest = chosen(own < time, oldest, way);
            time = chosen(own < time, time, own);
        }
        return oldest;
    }
    unsigned victim_of(std::uint64_t set) const;
    unsigned free_way(std::uint64_t set) const;

    /// Of each way: a word as in cache.h, with the line's mark above the state; the lines that a plain load and a plain
    /// store find there, or kNone; when it was used last.
    std::uint64_t* entries_ = nullptr;
    std::uint64_t* used_ = nullptr;   ///< of each set: marks of the ways that were used recently
    std::uint64_t* bytes_ = nullptr;  ///< of each set, if has_bytes_: a byte of each way's line
    std::uint16_t* hints_ = nullptr;  ///< the place where a line was last; null: none
    std::uint16_t* taken_ = nullptr;  ///< how many ways of each set are valid
    std::uint64_t* clock_ = nullptr;
    std::uint64_t hint_mask_ = 0;
    std::uint64_t set_mask_ = 0;
    std::uint32_t sets_ = 0;
    std::uint16_t way_count_ = 0;
    std::uint8_t set_bits_ = 0;  ///< log2 of the sets
    bool has_bytes_ = false;
    bool any_state_ = false;
    Replacement replacement_ = Replacement::lru;
};

}  // namespace anyperf::models
