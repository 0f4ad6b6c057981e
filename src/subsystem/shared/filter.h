// filter.h: a filter of PERF_EVENT_IOC_SET_FILTER in the form that measured threads evaluate: steps in postfix order
// over a record's bytes, and the strings that they compare with. The PMU parses it, since it knows the record's fields;
// it is kept in shared memory.
//
// As in the kernel (perf_tp_filter_match()), the filter runs on the tracepoint's raw bytes before the event counts: an
// event whose filter fails neither counts nor samples.
//
// Freestanding, as event_page.h. Evaluation terminates and stays within the filter and the record whatever the shared
// memory contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::subsystem {

/// A predicate that pushes its result, or an operator on the last results.
struct FilterStep {
    enum class Kind : std::uint8_t { number, text, both, either, negate };
    enum class Compare : std::uint8_t { equal, less, less_equal, greater, greater_equal, bits, glob };
    enum class Field : std::uint8_t {
        record,        ///< `size` bytes at `offset`
        data_loc,      ///< __data_loc: at `offset` the string's offset and length in the record, 16 bits each
        user_pointer,  ///< at `offset` an address in the program's memory
        comm,
        cpu,
    };
    Kind kind = Kind::number;
    Compare compare = Compare::equal;
    Field field = Field::record;
    bool is_signed = false;
    bool negated = false;
    std::uint8_t size = 0;     ///< 1, 2, 4 or 8; of a string, the bytes reserved for it
    std::uint16_t offset = 0;  ///< in the record, bytes
    std::uint16_t text = 0;    ///< offset in Filter::text of the string to compare with
    std::uint16_t text_bytes = 0;
    std::uint64_t value = 0;  ///< of a number: what it is compared with

    bool operator==(const FilterStep&) const = default;
};
static_assert(sizeof(FilterStep) == 24);

/// Room for one filter. An expression of at most one page (the kernel's limit) never needs more: the five letters of
/// "a<1||" make two steps.
inline constexpr std::size_t kFilterBytes = 65536;
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

/// What a filter is evaluated on.
struct FilterFacts {
    std::span<const std::byte> record;
    const char* comm = nullptr;  ///< the task's name, 16 bytes
    std::int32_t cpu = 0;
    /// Copies a string with its terminator from the program's memory. Returns the bytes copied, 0 if it can't be read.
    std::size_t (*copy)(void* to, std::uint64_t address, std::size_t bytes) = nullptr;
};

/// Whether the filter holds for these facts.
bool passes(const Filter& filter, const FilterFacts& facts);

/// glob(7), without the special cases of '/' and a leading dot. A '[' without its ']' is an ordinary character.
bool matches_glob(std::span<const char> pattern, std::span<const char> text);

}  // namespace anyperf::subsystem
