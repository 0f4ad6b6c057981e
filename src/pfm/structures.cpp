// structures.cpp: the rule of sizes that perf_event_open(2) has for its attr, too. A caller that was compiled against a
// newer header has more fields than this library knows: they may be ignored only if they ask for nothing.
#include "pfm/structures.h"

#include <algorithm>

namespace anyperf::pfm {

bool acceptable_size(const void* structure, std::size_t said, std::size_t ours) {
    if (said == 0 || said == ours) return true;
    if (said < ours) return false;
    const auto* bytes = static_cast<const unsigned char*>(structure);
    return std::all_of(bytes + ours, bytes + said, [](unsigned char byte) { return byte == 0; });
}

}  // namespace anyperf::pfm
