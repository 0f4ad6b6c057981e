#include "exports/json_text.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace anyperf::exports {

void JsonText::quote(std::string_view text) {
    using Json = nlohmann::json;
    text_ += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The digits are divided off one by one: a double would lose nanoseconds of a time since 1970.
JsonText& JsonText::time(std::uint64_t ns, std::uint64_t divisor) {
    separate();
    fmt::format_to(std::back_inserter(text_), "{}", ns / divisor);
    std::uint64_t rest = ns % divisor;
    if (rest == 0) return *this;
    text_ += '.';
    for (; rest != 0; rest %= divisor) {
        divisor /= 10;
        text_ += static_cast<char>('0' + rest / divisor);
    }
    return *this;
}

}  // namespace anyperf::exports
