// redirected_files.h: replaces the host's files in /sys and /proc by those of the presented machine. System calls that
// name such a file are given the path of the run's copy. Only paths that begin literally with one of the known names
// are recognized: not those relative to a directory or through a symbolic link. shown_directories.h has what follows
// for working directories and links.
#pragma once

#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Whether calls that name this path are given that of the run's copy.
bool is_redirected(const engine::Engine& engine, std::string_view path);

/// Makes a system call whose argument `kIndex` is a path, with the path of the run's copy instead. Returns false, with
/// nothing done, if the path is not one of those files.
template <unsigned kIndex>
bool redirect_path(engine::Call& call, long& answer);

extern template bool redirect_path<0>(engine::Call&, long&);
extern template bool redirect_path<1>(engine::Call&, long&);

}  // namespace anyperf::agent
