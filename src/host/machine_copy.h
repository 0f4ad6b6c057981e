// machine_copy.h: copies the files that anyperf reads about a machine, so that they can be examined on another one with
// --root. `cp -r` of /sys and /proc does not do: it keeps symbolic links that lead nowhere in the copy, and copies what
// nobody asked for.
#pragma once

#include <filesystem>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// Copies the files of `machine` to `directory`, which is made; links become what they lead to. Files that this process
/// may not read are left out, as are serial numbers and other processes. The number of copied files. Error: the
/// directory is not empty, or cannot be written.
Result<std::size_t> copy_machine(const Root& machine, const std::filesystem::path& directory);

/// Checks such a copy before it is examined. Error: a file that anyperf would read is not a regular one (a FIFO, a
/// device), or is larger than such a file can be; `what` names it. Of this machine nothing is checked.
Result<void> check_copy(const Root& copy);

}  // namespace anyperf::host
