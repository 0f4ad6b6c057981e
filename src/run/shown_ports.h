// shown_ports.h: the ports that programs of a deterministic run see where the kernel has chosen one, and whether they
// have set names of the machine; in the run memory (engine/syscalls/ports.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/made_files.h"

namespace anyperf::run {

/// The first port that is given out. The kernel chooses none so high (ip_local_port_range is 32768 to 60999 by
/// default), so programs that name a port of the run mean no other one.
inline constexpr std::uint32_t kFirstShownPort = 61'000;
inline constexpr std::uint32_t kShownPorts = 65'536 - kFirstShownPort;

struct ShownPorts {
    std::uint32_t given;      ///< how many were given out; after kShownPorts the first ones are used again
    std::uint32_t has_range;  ///< the range is known
    std::uint32_t first;      ///< the ports that the kernel chooses from
    std::uint32_t last;
    std::uint32_t names_set;             ///< a program has set the machine's name, so the kernel's is shown
    std::uint16_t real_of[kShownPorts];  ///< by the number, from kFirstShownPort on; 0: not given out
    std::uint16_t shown_of[65'536];      ///< by the kernel's port; 0: none
};

/// Where they are in the run memory: before the made files.
inline constexpr std::size_t kShownPortsOffset = kMadeFilesOffset - (sizeof(ShownPorts) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kShownPortsOffset);

}  // namespace anyperf::run
