#include "host/hardware/topology.h"

#include <charconv>
#include <string>
#include <string_view>

namespace anyperf::host {

namespace {

/// The whole of `text` as a number.
std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<int> read_number(const Root& root, const std::string& file) {
    const auto text = root.read(file);
    return text ? number(*text) : std::nullopt;
}

/// The directory of a CPU has a link named after its node: "node0".
std::optional<int> node_of(const Root& root, const std::string& directory) {
    constexpr std::string_view kNode = "node";
    for (const auto& name : root.list(directory))
        if (name.starts_with(kNode))
            if (const auto node = number(std::string_view{name}.substr(kNode.size()))) return node;
    return std::nullopt;
}

}  // namespace

// die_id came with Linux 5.2; before, a socket is one die. A number of -1 (some VMs) is kept as it is.
CpuPosition position_of(const Root& root, int cpu) {
    const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    CpuPosition position;
    position.socket = read_number(root, directory + "/topology/physical_package_id");
    position.core = read_number(root, directory + "/topology/core_id");
    position.die = read_number(root, directory + "/topology/die_id");
    if (!position.die && position.socket) position.die = 0;
    position.node = node_of(root, directory);
    return position;
}

}  // namespace anyperf::host
