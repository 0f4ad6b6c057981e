// descriptions.cpp: a text for each modifier, which pfm_event_attr_info_t must have. The texts are our own; the tables
// have names and codes only (data/events/README.md).
#include "pfm/descriptions.h"

#include <array>
#include <span>

namespace anyperf::pfm {

namespace {

using catalog::Modset;

// One array for each set of modifiers, in the order of the set in data/events/modifiers.tsv: a modifier's index in its
// set is its index here.
constexpr std::array kX86{"count in the kernel",
                          "count in user mode",
                          "count edges: how often the condition begins",
                          "invert the counter mask's comparison",
                          "counter mask: count cycles with at least this many",
                          "count on any thread of the core",
                          "load latency threshold in cycles",
                          "only inside transactions",
                          "exclude aborted transactions",
                          "front-end bubble threshold in cycles"};
constexpr std::array kNhm{"count edges", "invert the counter mask's comparison", "counter mask", "queue occupancy"};
constexpr std::array kAmd{
    "count in the kernel", "count in user mode", "count edges",    "invert the counter mask's comparison",
    "counter mask",        "count in the host",  "count in guests"};
constexpr std::array kP4{"count in user mode", "count in the kernel", "complement the threshold comparison",
                         "count edges", "threshold"};
constexpr std::array kBoxes{"count edges",
                            "invert the threshold's comparison",
                            "threshold",
                            "threshold",
                            "thread filter",
                            "core filter",
                            "node filter",
                            "frequency band",
                            "address of a cache line",
                            "node filter",
                            "isochronous requests only",
                            "non-coherent requests only",
                            "core filter",
                            "thread filter",
                            "core filter",
                            "requests of this socket",
                            "requests of other sockets",
                            "memory of this socket",
                            "memory of other sockets",
                            "destination node",
                            "sending node",
                            "threshold",
                            "invert the occupancy's comparison",
                            "edges of the occupancy"};
constexpr std::array kArm{"count in the kernel", "count in user mode", "count in the hypervisor"};
constexpr std::array kTorrent{"counter type", "counter selection", "lower comparison", "upper comparison"};
constexpr std::array kPerf{"count in user mode",       "count in the kernel",    "count in the hypervisor",
                           "sample period in events",  "sample frequency in Hz", "precise sampling, 0 to 3",
                           "exclusive use of the PMU", "count in guests",        "count in the host",
                           "CPU to count on",          "never multiplexed",      "use the hardware's sampling buffer"};

std::span<const char* const> descriptions(Modset set) {
    switch (set) {
        case Modset::x86: return kX86;
        case Modset::nhm_unc: return kNhm;
        case Modset::amd64: return kAmd;
        case Modset::netburst: return kP4;
        case Modset::snbep_unc: return kBoxes;
        case Modset::arm: return kArm;
        case Modset::torrent: return kTorrent;
        case Modset::perf: return kPerf;
        case Modset::none: break;
    }
    return {};
}

}  // namespace

const char* modifier_description(Modset set, unsigned index) {
    const auto all = descriptions(set);
    return index < all.size() ? all[index] : "";
}

}  // namespace anyperf::pfm
