#include "host/hardware/cpus.h"

#include "try.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace anyperf::host {

namespace {

/// The whole of `text` as a CPU number.
std::optional<int> cpu_number(std::string_view text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value >= kMaxCpus) return std::nullopt;
    return value;
}

Error bad_piece(std::string_view list, std::string_view piece, std::string_view why) {
    return Error{"cannot read the CPU list '" + std::string{list} + "'",
                 "'" + std::string{piece} + "' " + std::string{why}, "write numbers and ranges, as in 0-3,7"};
}

/// Adds a number or a range of `list` to `cpus`.
Result<void> add_piece(std::string_view list, std::string_view piece, std::vector<int>& cpus) {
    const auto dash = piece.find('-');
    const auto first = cpu_number(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpu_number(piece.substr(dash + 1));
    if (!first || !last) return std::unexpected(bad_piece(list, piece, "is not a CPU number or range"));
    if (*last < *first) return std::unexpected(bad_piece(list, piece, "ends before it begins"));
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    return {};
}

Result<std::vector<int>> read_list(const Root& root, std::string_view file) {
    const std::string text = TRY(root.read(file));
    return parse_cpu_list(text);
}

}  // namespace

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        TRY(add_piece(text, text.substr(at, end - at), cpus));
        // Duplicates are removed after each piece, so that "0-65535,0-65535,…" needs no more memory than one range.
        std::ranges::sort(cpus);
        cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
        if (end + 1 == text.size()) return std::unexpected(bad_piece(text, ",", "is followed by nothing"));
        at = end + 1;
    }
    return cpus;
}

// The shortest list of these CPUs, as the kernel writes it.
std::string to_cpu_list(std::span<const int> cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[i]);
        if (last > i) text += '-' + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

Result<std::vector<int>> online_cpus(const Root& root) {
    return read_list(root, "/sys/devices/system/cpu/online");
}

Result<std::vector<int>> present_cpus(const Root& root) {
    return read_list(root, "/sys/devices/system/cpu/present");
}

}  // namespace anyperf::host
