// machine_copy.h: copies the files that anyperf reads about a machine, so that they can be examined on another one with
// --root. `cp -r` of /sys and /proc is no substitute: it keeps symbolic links, which lead nowhere in the copy, and
// copies serial numbers and other processes.
#pragma once

#include <filesystem>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// Copies the files of `machine` to `directory`, which it creates. Of a link the target is copied, but of those
/// in /proc/self/ns the text. Files that this process may not read are left out, as are serial numbers and
/// other processes. Returns the number of copied files. Error: the directory is not empty, or cannot be written.
Result<std::size_t> copy_machine(const Root& machine, const std::filesystem::path& directory);

/// Checks such a copy before it is examined. Error: a file that anyperf would read is not a regular one (a FIFO, a
/// device), or is larger than such a file can be; `what` names it. Does nothing if `copy` is this machine.
Result<void> check_copy(const Root& copy);

}  // namespace anyperf::host
