#include "engine/x86_64/translate/tuple_table.h"

#include "engine/x86_64/decode/decode_block.h"

namespace anyperf::engine::x86_64 {

using run::kCounters;
using run::Tuple;

namespace {

/// A tuple as words of eight amounts. No amount reaches 0x80, so one subtraction compares eight.
struct Packed {
    static constexpr std::size_t kWords = sizeof(Tuple) / sizeof(std::uint64_t);
    std::uint64_t word[kWords];
};
static_assert(kLongestBlock <= run::kLargestAmount && run::kLargestAmount < 0x80);

Packed packed(const Tuple& tuple) {
    Packed both;
    __builtin_memcpy(&both, &tuple, sizeof both);
    return both;
}

Tuple unpacked(const Packed& both) {
    Tuple tuple;
    __builtin_memcpy(&tuple, &both, sizeof tuple);
    return tuple;
}

bool is_empty(const Packed& tuple) {
    std::uint64_t all = 0;
    for (const std::uint64_t word : tuple.word) all |= word;
    return all == 0;
}

bool operator==(const Packed& a, const Packed& b) {
    std::uint64_t differences = 0;
    for (std::size_t i = 0; i < Packed::kWords; ++i) differences |= a.word[i] ^ b.word[i];
    return differences == 0;
}

/// Whether no amount of `part` exceeds that of `whole`.
bool is_part(const Packed& part, const Packed& whole) {
    constexpr std::uint64_t kHigh = 0x8080808080808080;
    std::uint64_t suffices = kHigh;
    for (std::size_t i = 0; i < Packed::kWords; ++i) suffices &= (whole.word[i] | kHigh) - part.word[i];
    return suffices == kHigh;
}

Packed difference(const Packed& whole, const Packed& part) {
    Packed rest;
    for (std::size_t i = 0; i < Packed::kWords; ++i) rest.word[i] = whole.word[i] - part.word[i];
    return rest;
}

Tuple one_of(std::size_t row) {
    Tuple tuple{};
    tuple.amount[row] = 1;
    return tuple;
}

unsigned size_of(const Tuple& tuple) {
    unsigned size = 0;
    for (const std::uint8_t amount : tuple.amount) size += amount;
    return size;
}

/// Whether a segment can add this: a program may have overwritten what a word means.
bool is_possible(const Tuple& tuple) {
    for (const std::uint8_t amount : tuple.amount)
        if (amount > run::kLargestAmount) return false;
    return !is_empty(packed(tuple));
}

}  // namespace

void TupleTable::begin(Thread* const* threads, std::size_t limit) {
    threads_ = threads;
    limit_ = limit != 0 && limit < run::kTupleWords - kCounters ? kCounters + limit : run::kTupleWords;
    for (std::size_t row = 0; row < kCounters; ++row) set_meaning(row, one_of(row));
    used_ = kCounters;
}

void TupleTable::set_meaning(std::size_t word, const Tuple& tuple) {
    meaning_[word] = tuple;
    size_[word] = static_cast<std::uint16_t>(size_of(tuple));
}

/// The slot that has the tuple, or the free one that it would get. At least half of the slots are free.
std::uint16_t& TupleTable::slot_of(const Tuple& tuple) {
    const Packed key = packed(tuple);
    std::uint64_t hash = 0;
    for (const std::uint64_t word : key.word) hash = ((hash << 29 | hash >> 35) ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    for (std::size_t at = hash % kSlots;; at = (at + 1) % kSlots)
        if (slots_[at] == 0 || packed(known_[slots_[at]].tuple) == key) return slots_[at];
}

/// Null if there is no room.
TupleTable::Known* TupleTable::remember(std::uint16_t& slot, const Tuple& tuple) {
    if (known_used_ + 1 == kMostKnown) return nullptr;
    slot = static_cast<std::uint16_t>(++known_used_);
    Known& known = known_[slot];
    known = {};
    known.tuple = tuple;
    return &known;
}

std::uint16_t TupleTable::new_word(const Tuple& tuple) {
    const std::size_t word = used_++;
    set_meaning(word, tuple);
    for (Thread* thread = *threads_; thread != nullptr; thread = thread->next_thread) {
        if (!thread->attached) continue;
        thread->tuples.word[word] = 0;
        thread->tuples.set_meaning(word, tuple);
    }
    return static_cast<std::uint16_t>(word);
}

/// A tuple gets further words while less than half of all words are used: the tuples that come first are mostly the
/// frequent ones. With traces a quarter: frequent segments become traces, and different tuples need the room. A tuple
/// that was composed gets a word as soon as there is room for it.
Additions TupleTable::words_of(Known& known, Use use) {
    Additions additions;
    if (known.composed && used_ < limit_of(use)) {
        known.composed = false;
        known.word[0] = new_word(known.tuple);
        known.turns = 1;
    }
    if (known.composed) {
        additions.add(known.word[0], 1);
        additions.add(known.word[1], 1);
        return additions;
    }
    const std::size_t most = reserved_ != 0 ? limit_ / 4 : limit_ / 2;
    if (known.turns < kTurns && used_ < most) known.word[known.turns++] = new_word(known.tuple);
    known.next = static_cast<std::uint8_t>((known.next + 1) % known.turns);
    additions.add(known.word[known.next], 1);
    return additions;
}

std::size_t TupleTable::limit_of(Use use) const {
    return limit_ - (use == Use::block ? reserved_ : use == Use::trace_exit ? reserved_ / 2 : 0);
}

Additions TupleTable::additions_of(const Tuple& tuple, Use use) {
    if (is_empty(packed(tuple))) return {};
    std::uint16_t& slot = slot_of(tuple);
    if (slot != 0) return words_of(known_[slot], use);
    if (used_ >= limit_of(use)) return compose(slot, tuple, use);
    Known* const known = remember(slot, tuple);
    if (known == nullptr) return compose(slot, tuple, use);
    known->word[known->turns++] = new_word(tuple);
    Additions additions;
    additions.add(known->word[0], 1);
    return additions;
}

/// For a tuple that gets no word of its own. If two words together add the tuple, that pair is remembered; otherwise
/// the largest part and single amounts do. One of a pair is at least half of the tuple, so few words are tried: a
/// search that looked up what is missing to each part took 7 us, and gcc -O2 -c made 4,400.
Additions TupleTable::compose(std::uint16_t& slot, const Tuple& tuple, Use use) {
    const Packed whole = packed(tuple);
    const unsigned size = size_of(tuple);
    std::size_t largest = 0;
    for (std::size_t word = kCounters; word < used_; ++word) {
        const bool may_be_paired = 2u * size_[word] >= size;
        const bool is_larger = largest == 0 ? size_[word] != 0 : size_[word] > size_[largest];
        if (size_[word] > size || (!may_be_paired && !is_larger)) continue;
        const Packed part = packed(meaning_[word]);
        if (!is_part(part, whole)) continue;
        if (is_larger) largest = word;
        if (!may_be_paired) continue;
        const std::uint16_t rest = slot_of(unpacked(difference(whole, part)));
        if (rest == 0 || known_[rest].composed) continue;
        const std::uint16_t other = known_[rest].word[0];
        Known* const known = remember(slot, tuple);
        if (known == nullptr) break;
        known->word = {static_cast<std::uint16_t>(word), other};
        known->composed = true;
        return words_of(*known, use);
    }
    Additions additions;
    Tuple rest = tuple;
    if (largest != 0) {
        additions.add(largest, 1);
        rest = unpacked(difference(whole, packed(meaning_[largest])));
    }
    for (std::size_t row = 0; row < kCounters; ++row)
        if (rest.amount[row] != 0) additions.add(row, rest.amount[row]);
    return additions;
}

void TupleTable::adopt(const run::TupleCounts& counts) {
    const std::size_t words = counts.words();
    for (std::size_t word = used_; word < words; ++word) {
        const Tuple tuple = counts.meaning(word);
        set_meaning(word, is_possible(tuple) ? tuple : Tuple{});
        if (!is_possible(tuple)) continue;
        std::uint16_t& slot = slot_of(tuple);
        Known* const known = slot != 0 ? &known_[slot] : remember(slot, tuple);
        if (known != nullptr && known->turns < kTurns) known->word[known->turns++] = static_cast<std::uint16_t>(word);
    }
    if (words > used_) used_ = words;
    if (used_ > limit_) limit_ = used_;
}

void TupleTable::attach(Thread& thread, bool fresh) {
    run::TupleCounts& counts = thread.tuples;
    if (fresh) thread.instructions_are_settled = false;
    for (std::size_t word = fresh ? 0 : counts.words(); word < used_; ++word) {
        counts.word[word] = 0;
        counts.set_meaning(word, meaning_[word]);
    }
    thread.attached = true;
}

}  // namespace anyperf::engine::x86_64
