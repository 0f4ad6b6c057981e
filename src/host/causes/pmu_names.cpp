#include "host/causes/pmu_names.h"

#include "host/hardware/pmu.h"

namespace anyperf::host::causes {

std::string pmu_of_type(const Root& root, std::uint32_t type) {
    for (const Pmu& pmu : read_pmus(root))
        if (pmu.type() == type) return pmu.name();
    return {};
}

std::vector<std::string> core_pmus(const Root& root) {
    std::vector<std::string> found;
    for (const Pmu& pmu : read_pmus(root))
        if (pmu.is_core()) found.push_back(pmu.name());
    return found;
}

std::string pmus_listed(const Root& root) {
    std::string text;
    for (const Pmu& pmu : read_pmus(root)) text += (text.empty() ? "" : ", ") + pmu.name();
    return text.empty() ? "none" : text;
}

}  // namespace anyperf::host::causes
