// filter.h: a filter of PERF_EVENT_IOC_SET_FILTER as measured threads evaluate it: steps in postfix order over a
// record's bytes, and the texts that they name. It is made by who knows the fields, and stands in shared memory.
//
// Freestanding, as event_page.h. Whatever stands in the memory, evaluating it ends and reads nothing beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::subsystem {

/// A predicate, or what joins the results of those before it.
struct FilterStep {
    enum class Kind : std::uint8_t { number, text, both, either, negate };
    enum class Compare : std::uint8_t { equal, less, less_equal, greater, greater_equal, bits, glob };
    enum class Field : std::uint8_t {
        record,        ///< at `offset`, `size` bytes
        located,       ///< at `offset` stands where the text is: offset and length, 16 bits each
        user_pointer,  ///< at `offset` stands an address in the program's memory
        comm,
        cpu,
    };
    Kind kind = Kind::number;
    Compare compare = Compare::equal;
    Field field = Field::record;
    bool is_signed = false;
    bool negated = false;
    std::uint8_t size = 0;  ///< 1, 2, 4, 8; of a text its room
    std::uint16_t offset = 0;
    std::uint16_t text = 0;  ///< where the text that is looked for begins, among the texts
    std::uint16_t text_bytes = 0;
    std::uint64_t value = 0;

    bool operator==(const FilterStep&) const = default;
};
static_assert(sizeof(FilterStep) == 24);

inline constexpr std::size_t kFilterBytes = 65536;  ///< room for one: text of a page becomes no more
inline constexpr std::size_t kFilterSteps = 2400;
inline constexpr std::size_t kFilterTexts = kFilterBytes - 8 - sizeof(FilterStep) * kFilterSteps;
static_assert(kFilterTexts > 4096);

struct Filter {
    std::uint32_t steps = 0;
    std::uint32_t unused = 0;
    FilterStep step[kFilterSteps];
    char text[kFilterTexts];

    bool operator==(const Filter&) const = default;
};
static_assert(sizeof(Filter) == kFilterBytes);

/// What it is asked about.
struct FilterFacts {
    std::span<const std::byte> record;
    const char* comm = nullptr;  ///< 16 bytes
    std::int32_t cpu = 0;
    /// Copies a text from the program's memory, up to and with its end; how many bytes, 0 where it can't be read.
    std::size_t (*copy)(void* to, std::uint64_t address, std::size_t bytes) = nullptr;
};

/// Whether it holds.
bool passes(const Filter& filter, const FilterFacts& facts);

/// glob(7) without a rule for '/' or a leading dot; what is no pattern stands for itself.
bool matches_glob(std::span<const char> pattern, std::span<const char> text);

}  // namespace anyperf::subsystem
