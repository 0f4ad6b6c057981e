// memory_file.h: a file in memory that a program gets in place of a file below /proc.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// Makes the descriptor of a memfd read-only, as that of /proc/self/maps is: opens the file again for reading, and
/// makes `fd` refer to the new open file description. `flags`: of open(2). Returns `fd`; on failure it keeps the old
/// description.
long read_only(long fd, std::uint64_t flags);

/// Makes a file with this text, open for reading at its start. `name` ends with a NUL; `flags` are those of open(2).
/// Returns a descriptor or a negated errno.
long make_memory_file(const char* name, std::string_view text, std::uint64_t flags);

}  // namespace anyperf::engine
