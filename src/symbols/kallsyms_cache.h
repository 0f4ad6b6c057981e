// kallsyms_cache.h: the kernel's symbols, kept in a file of the user. The kernel makes the 5 MB of /proc/kallsyms anew
// for each reader, and most of the time of a short report went there.
//
// The file is of use as long as the kernel has not been started again and has the same modules at the same addresses:
// KernelState. What the kernel has added without a module since, such as a BPF program, is missing. A user without the
// right to see addresses reads none, so the file of one user has nothing that this user may not see; it is for this
// user alone (mode 0600). Any failure means that there is no cache.
#pragma once

#include <optional>
#include <string>

#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// What the symbols depend on: the boot, and names, sizes and addresses of the modules. Empty if it is not known.
std::string kernel_state(const std::string& boot_id_path = "/proc/sys/kernel/random/boot_id",
                         const std::string& modules_path = "/proc/modules");

/// $XDG_CACHE_HOME/anyperf/kallsyms, or that below ~/.cache; empty if neither variable is an absolute path.
std::string kallsyms_cache_path();

/// The symbols of a file that was written with the same state. Nothing in the file is trusted.
std::optional<SymbolTable> read_kallsyms_cache(const std::string& path, const std::string& state);

/// Replaces the file, and makes its directory.
void write_kallsyms_cache(const std::string& path, const std::string& state, const SymbolTable& table);

}  // namespace anyperf::symbols
