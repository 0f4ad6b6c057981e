// pmus.cpp: see pmus.h.
#include "host/causes/pmus.h"

#include "host/sysctl.h"

namespace anyperf::host::causes {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";

}  // namespace

std::string pmu_of_type(const Root& root, std::uint32_t type) {
    for (const std::string& name : root.list(kDevices))
        if (number_in(root, std::string{kDevices} + "/" + name + "/type") == static_cast<long long>(type)) return name;
    return {};
}

std::vector<std::string> core_pmus(const Root& root) {
    std::vector<std::string> found;
    for (const std::string& name : root.list(kDevices))
        if (name == "cpu" || root.exists(std::string{kDevices} + "/" + name + "/cpus")) found.push_back(name);
    return found;
}

std::string pmus_listed(const Root& root) {
    std::string text;
    for (const std::string& name : root.list(kDevices)) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

}  // namespace anyperf::host::causes
