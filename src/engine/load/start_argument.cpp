// start_argument.cpp: the text form is fourteen numbers in a fixed order. It is an argument and not in the environment,
// because programs print and clear the environment.
//
// Three lists must agree: kNumbers, parse_start_argument() and format_start_argument(). kStartArgumentRoom is enough
// for eleven characters and a comma for each number.
#include "engine/load/start_argument.h"

#include <string_view>

#include "engine/freestanding/text.h"

namespace anyperf::engine {

namespace {

/// What a number may be. A user may start the engine with any text, so each is checked before it is narrowed.
struct Limits {
    std::int64_t least = 0;
    std::int64_t most = INT32_MAX;
};
constexpr Limits kDescriptor{.least = -1};  // -1: absent; the same for the page
constexpr Limits kFlag{.most = 1};
constexpr Limits kHalf{.most = UINT32_MAX};
constexpr Limits kNumbers[] = {kDescriptor, kDescriptor, {},    kDescriptor, kDescriptor, kDescriptor, kDescriptor,
                               {},          {},          kFlag, kHalf,       kHalf,       kFlag,       {}};
constexpr std::size_t kCount = std::size(kNumbers);

/// Parses a number with an optional sign that is followed by `end`. False if `text` has none, or it passes its limits.
bool take_number(const char*& text, char end, const Limits& limits, std::int64_t& out) {
    const bool negative = *text == '-';
    if (negative) ++text;
    if (*text < '0' || *text > '9') return false;
    std::int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + (*text - '0');
        if (value > limits.most) return false;
    }
    out = negative ? -value : value;
    return *text++ == end && out >= limits.least;
}

}  // namespace

bool parse_start_argument(const char* text, StartArgument& out) {
    std::int64_t number[kCount];
    for (std::size_t i = 0; i < kCount; ++i)
        if (!take_number(text, i + 1 == kCount ? '\0' : ',', kNumbers[i], number[i])) return false;
    const auto bits = [&number](std::size_t i) { return static_cast<std::uint64_t>(number[i]); };
    out = {.facts_fd = static_cast<int>(number[0]),
           .run_fd = static_cast<int>(number[1]),
           .process = static_cast<std::uint32_t>(number[2]),
           .program_fd = static_cast<int>(number[3]),
           .broker_fd = static_cast<int>(number[4]),
           .engine_fd = static_cast<int>(number[5]),
           .page = number[6],
           .blocked = bits(7),
           .shown = bits(8),
           .knows_ignored = number[9] != 0,
           .ignored = bits(10) | bits(11) << 32,
           .user_may_differ = number[12] != 0,
           .random = static_cast<std::uint32_t>(number[13])};
    return true;
}

void format_start_argument(const StartArgument& argument, char* out) {
    const std::int64_t number[kCount] = {argument.facts_fd,
                                         argument.run_fd,
                                         argument.process,
                                         argument.program_fd,
                                         argument.broker_fd,
                                         argument.engine_fd,
                                         argument.page,
                                         static_cast<std::int64_t>(argument.blocked),
                                         static_cast<std::int64_t>(argument.shown),
                                         argument.knows_ignored ? 1 : 0,
                                         static_cast<std::int64_t>(argument.ignored & UINT32_MAX),
                                         static_cast<std::int64_t>(argument.ignored >> 32),
                                         argument.user_may_differ ? 1 : 0,
                                         argument.random};
    Line line;
    for (std::size_t i = 0; i < kCount; ++i) line.text(i == 0 ? "" : ",").decimal(number[i]);
    for (const char c : line.view()) *out++ = c;
    *out = 0;
}

}  // namespace anyperf::engine
