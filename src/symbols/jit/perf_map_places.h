// perf_map_places.h: where a process has left its perf map. A process in a container writes to its own /tmp, by the
// number that it has in there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anyperf::symbols {

/// The paths at which the map may be, in the order in which they are tried. The file may be missing at all of them: a
/// container's root can be seen only as long as the process runs.
std::vector<std::string> perf_map_places(std::uint32_t pid);

/// The last number of the line "NSpid:" in /proc/PID/status (proc(5)): that in the innermost namespace. 0: there is
/// none.
std::uint32_t innermost_pid(const std::string& status);

}  // namespace anyperf::symbols
