#include "symbols/jit/perf_map_places.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

namespace anyperf::symbols {

std::uint32_t innermost_pid(const std::string& status) {
    constexpr std::string_view kName = "\nNSpid:";
    const std::size_t begin = status.find(kName);
    if (begin == std::string::npos) return 0;
    const std::string_view after = std::string_view{status}.substr(begin + kName.size());
    const std::string_view line = after.substr(0, after.find('\n'));
    const std::string_view last = line.substr(line.find_last_of(" \t") + 1);
    std::uint32_t pid = 0;
    std::from_chars(last.data(), last.data() + last.size(), pid);
    return pid;
}

std::vector<std::string> perf_map_places(std::uint32_t pid) {
    const auto in_tmp = [](std::uint32_t number) { return "/tmp/perf-" + std::to_string(number) + ".map"; };
    const std::string process = "/proc/" + std::to_string(pid);
    std::ifstream file(process + "/status");
    const std::string status{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::string> places{in_tmp(pid)};
    if (const std::uint32_t inner = innermost_pid(status); inner != 0)
        places.push_back(process + "/root" + in_tmp(inner));
    return places;
}

}  // namespace anyperf::symbols
