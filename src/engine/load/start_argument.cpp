// start_argument.cpp: the text form is twelve numbers in a fixed order. It is an argument and not in the environment,
// because programs print and clear the environment.
//
// Three lists must agree: the struct, parse_start_argument() and format_start_argument(). kStartArgumentRoom is enough
// for eleven characters and a comma for each number.
#include "engine/load/start_argument.h"

#include <string_view>

#include "engine/freestanding/text.h"

namespace anyperf::engine {

namespace {

/// Parses a number with an optional sign that is followed by `end`. False if `text` has none, or it exceeds INT32_MAX.
bool take_number(const char*& text, char end, std::int64_t& out) {
    const bool negative = *text == '-';
    if (negative) ++text;
    if (*text < '0' || *text > '9') return false;
    std::int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + (*text - '0');
        if (value > INT32_MAX) return false;
    }
    out = negative ? -value : value;
    return *text++ == end;
}

}  // namespace

bool parse_start_argument(const char* text, StartArgument& out) {
    std::int64_t facts_fd = 0;
    std::int64_t run_fd = 0;
    std::int64_t process = 0;
    std::int64_t program_fd = 0;
    std::int64_t broker_fd = 0;
    std::int64_t engine_fd = 0;
    std::int64_t page = 0;
    std::int64_t blocked = 0;
    std::int64_t shown = 0;
    std::int64_t ignored = 0;
    std::int64_t user_may_differ = 0;
    std::int64_t random = 0;
    if (!take_number(text, ',', facts_fd) || !take_number(text, ',', run_fd) || !take_number(text, ',', process) ||
        !take_number(text, ',', program_fd) || !take_number(text, ',', broker_fd) ||
        !take_number(text, ',', engine_fd) || !take_number(text, ',', page) || !take_number(text, ',', blocked) ||
        !take_number(text, ',', shown) || !take_number(text, ',', ignored) ||
        !take_number(text, ',', user_may_differ) || !take_number(text, 0, random))
        return false;
    // -1 means absent for descriptors and the page. A user may start the engine with any text, so each number is
    // checked before it is narrowed.
    if (facts_fd < -1 || run_fd < -1 || process < 0 || program_fd < -1 || broker_fd < -1 || engine_fd < -1 ||
        page < -1 || blocked < 0 || shown < 0 || ignored < 0 || user_may_differ < 0 || random < 0)
        return false;
    out = {static_cast<int>(facts_fd),
           static_cast<int>(run_fd),
           static_cast<std::uint32_t>(process),
           static_cast<int>(program_fd),
           static_cast<int>(broker_fd),
           static_cast<int>(engine_fd),
           page,
           static_cast<std::uint64_t>(blocked),
           static_cast<std::uint64_t>(shown),
           static_cast<std::uint64_t>(ignored),
           user_may_differ != 0,
           static_cast<std::uint32_t>(random)};
    return true;
}

void format_start_argument(const StartArgument& argument, char* out) {
    Line line;
    line.decimal(argument.facts_fd)
        .text(",")
        .decimal(argument.run_fd)
        .text(",")
        .decimal(argument.process)
        .text(",")
        .decimal(argument.program_fd)
        .text(",")
        .decimal(argument.broker_fd)
        .text(",")
        .decimal(argument.engine_fd)
        .text(",")
        .decimal(argument.page)
        .text(",")
        .decimal(static_cast<std::int64_t>(argument.blocked))
        .text(",")
        .decimal(static_cast<std::int64_t>(argument.shown))
        .text(",")
        .decimal(static_cast<std::int64_t>(argument.ignored))
        .text(",")
        .decimal(argument.user_may_differ ? 1 : 0)
        .text(",")
        .decimal(argument.random);
    for (const char c : line.view()) *out++ = c;
    *out = 0;
}

}  // namespace anyperf::engine
