// fuzz_schedule_log.cpp: any bytes as two logs of `run --log-schedule`, the first ending at a zero byte, give an error
// with a cause, or a difference that both have; a log equals itself.
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "cli/schedules/difference.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

auto difference(const std::string& first, const std::string& second) {
    std::istringstream one{first}, other{second};
    return anyperf::cli::schedules::find_difference({one, "A"}, {other, "B"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    const std::size_t end = std::min(text.find('\0'), size);
    const std::string first = text.substr(0, end), second = text.substr(std::min(end + 1, size));
    const auto found = difference(first, second);
    if (!found) {
        require(!found.error().what.empty() && !found.error().cause.empty());
    } else if (found->has_value()) {
        const auto& each = **found;
        require(each.line > 0 && each.first != each.second && !each.thread.empty() && each.before_line < each.line);
        require(!describe(each, "A", "B").empty());
    }
    const auto same = difference(first, first);
    require(!same || !same->has_value());
    return 0;
}
