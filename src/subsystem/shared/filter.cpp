// filter.cpp: comparisons as filter_pred_*() of Linux 6.18: both sides are taken as the field's type.
//
// It runs on the engine's stack, on the thread whose record is filtered, so it has no recursion. Each number of a step
// is checked where it is used: a malformed filter gives some result and reads nothing outside of its arrays.
#include "subsystem/shared/filter.h"

namespace anyperf::subsystem {
namespace {

constexpr std::size_t kCommBytes = 16;
constexpr std::size_t kLongestText = 1024;  ///< bytes that are read of a string in the program's memory

/// A number of a record; 0 if the record ends before it. Only the broker writes the filter's memory, but the record is
/// the thread's own. Both are checked alike.
std::uint64_t read(std::span<const std::byte> record, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    if (size > sizeof value || offset + size > record.size()) return 0;
    __builtin_memcpy(&value, record.data() + offset, size);
    return value;
}

/// The low `size` bytes of a value, extended to 64 bits by the field's sign.
std::uint64_t as_type(std::uint64_t value, std::size_t size, bool is_signed) {
    if (size == 0 || size >= 8) return value;
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    const std::uint64_t up = value << unused;
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(up) >> unused) : up >> unused;
}

/// One comparison. A glob has no meaning for numbers: false.
template <class T>
bool holds(FilterStep::Compare compare, T left, T right) {
    switch (compare) {
        case FilterStep::Compare::equal: return left == right;
        case FilterStep::Compare::less: return left < right;
        case FilterStep::Compare::less_equal: return left <= right;
        case FilterStep::Compare::greater: return left > right;
        case FilterStep::Compare::greater_equal: return left >= right;
        case FilterStep::Compare::bits: return (left & right) != 0;
        case FilterStep::Compare::glob: return false;
    }
    return false;
}

bool number_holds(const FilterStep& step, const FilterFacts& facts) {
    const bool of_cpu = step.field == FilterStep::Field::cpu;
    const std::size_t size = of_cpu ? sizeof facts.cpu : step.size;
    if (size != 1 && size != 2 && size != 4 && size != 8) return false;
    const std::uint64_t raw =
        of_cpu ? static_cast<std::uint64_t>(facts.cpu) : read(facts.record, step.offset, step.size);
    const std::uint64_t left = as_type(raw, size, step.is_signed);
    // The constant is cut to the field's size too: 256 equals 0 in a field of one byte.
    const std::uint64_t right = as_type(step.value, size, step.is_signed);
    const bool result = step.is_signed
                            ? holds(step.compare, static_cast<std::int64_t>(left), static_cast<std::int64_t>(right))
                            : holds(step.compare, left, right);
    return result != step.negated;
}

/// The string up to its NUL, at most `room` bytes.
std::span<const char> text_in(const void* from, std::size_t room) {
    const auto* const text = static_cast<const char*>(from);
    std::size_t length = 0;
    while (length < room && text[length] != 0) ++length;
    return {text, length};
}

/// A text of the record: an array of its own, or what a __data_loc word leads to (length in the upper half, offset in
/// the lower). Empty if it is not within the record.
std::span<const char> text_of(const FilterStep& step, const FilterFacts& facts) {
    const auto within = [&](std::size_t offset, std::size_t bytes) -> std::span<const char> {
        if (offset + bytes > facts.record.size()) return {};
        return text_in(facts.record.data() + offset, bytes);
    };
    if (step.field == FilterStep::Field::comm) return text_in(facts.comm, kCommBytes);
    if (step.field == FilterStep::Field::record) return within(step.offset, step.size);
    const std::uint64_t place = read(facts.record, step.offset, 4);
    return within(place & 0xffff, place >> 16);
}

bool equal(std::span<const char> left, std::span<const char> right) {
    return left.size() == right.size() && __builtin_memcmp(left.data(), right.data(), left.size()) == 0;
}

bool text_holds(const Filter& filter, const FilterStep& step, const FilterFacts& facts) {
    if (std::size_t{step.text} + step.text_bytes > kFilterTexts) return false;
    const std::span<const char> wanted{filter.text + step.text, step.text_bytes};
    const auto compare = [&](std::span<const char> text) {
        return step.compare == FilterStep::Compare::glob ? matches_glob(wanted, text) : equal(wanted, text);
    };
    if (step.field != FilterStep::Field::user_pointer) return compare(text_of(step, facts)) != step.negated;
    // A string that can't be read fails the predicate, negated or not.
    char copied[kLongestText];
    if (facts.copy == nullptr) return false;
    const std::size_t bytes = facts.copy(copied, read(facts.record, step.offset, 8), sizeof copied);
    return bytes != 0 && compare(text_in(copied, bytes)) != step.negated;
}

/// The results of predicates that no operator has consumed yet, a bit each. kDepth is more than kFilterSteps, so there
/// is always room.
class Results {
  public:
    void push(bool value) {
        if (depth_ < kDepth) set(depth_++, value);
    }
    bool pop() {
        if (depth_ == 0) return false;
        --depth_;
        return get(depth_);
    }

  private:
    static constexpr std::size_t kDepth = 4096;
    bool get(std::size_t i) const { return (bits_[i / 8] >> (i % 8) & 1) != 0; }
    void set(std::size_t i, bool value) {
        const auto bit = static_cast<std::uint8_t>(1u << (i % 8));
        bits_[i / 8] = static_cast<std::uint8_t>(value ? bits_[i / 8] | bit : bits_[i / 8] & ~bit);
    }
    std::uint8_t bits_[kDepth / 8] = {};
    std::size_t depth_ = 0;
};

/// Whether `c` is in the character class whose first character is at `at`, after the '['. Moves `at` after the ']'.
/// Without a ']' there is no class: `is_class` is false, and `at` stays.
bool in_class(std::span<const char> pattern, std::size_t& at, char c, bool& is_class) {
    std::size_t i = at;
    const bool inverted = i < pattern.size() && pattern[i] == '!';
    if (inverted) ++i;
    bool found = false;
    const std::size_t first = i;
    for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
        const auto low = static_cast<unsigned char>(pattern[i]);
        auto high = low;
        if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']')
            high = static_cast<unsigned char>(pattern[i += 2]);
        found = found || (static_cast<unsigned char>(c) >= low && static_cast<unsigned char>(c) <= high);
    }
    is_class = i < pattern.size();
    if (is_class) at = i + 1;
    return found != inverted;
}

/// Whether one element of the pattern other than '*' matches `c`. Moves `at` after the element.
bool element_matches(std::span<const char> pattern, std::size_t& at, char c) {
    const char element = pattern[at++];
    if (element == '?') return true;
    if (element == '[') {
        bool is_class = false;
        const bool found = in_class(pattern, at, c, is_class);
        return is_class ? found : c == '[';
    }
    if (element == '\\' && at < pattern.size()) return pattern[at++] == c;
    return element == c;
}

}  // namespace

bool matches_glob(std::span<const char> pattern, std::span<const char> text) {
    constexpr std::size_t kNone = ~std::size_t{0};
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = kNone;  // the pattern after the last star
    std::size_t kept = 0;      // the text position that this star was tried with
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            kept = t;
            continue;
        }
        std::size_t next = p;
        if (p < pattern.size() && element_matches(pattern, next, text[t])) {
            p = next;
            ++t;
            continue;
        }
        if (star == kNone) return false;
        p = star;
        t = ++kept;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

// The steps are in postfix order, so both sides of && and || are evaluated. That costs little, and no predicate has an
// effect.
bool passes(const Filter& filter, const FilterFacts& facts) {
    Results results;
    for (std::size_t i = 0; i < filter.steps && i < kFilterSteps; ++i) {
        const FilterStep& step = filter.step[i];
        switch (step.kind) {
            case FilterStep::Kind::number: results.push(number_holds(step, facts)); break;
            case FilterStep::Kind::text: results.push(text_holds(filter, step, facts)); break;
            case FilterStep::Kind::negate: results.push(!results.pop()); break;
            case FilterStep::Kind::both:
            case FilterStep::Kind::either: {
                const bool right = results.pop();
                const bool left = results.pop();
                results.push(step.kind == FilterStep::Kind::both ? left && right : left || right);
                break;
            }
        }
    }
    return results.pop();
}

}  // namespace anyperf::subsystem
