// memory_file.h: a file in memory that takes the place of one below /proc.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// Makes the descriptor of a memfd one that can only be read, as that of /proc/self/maps: opens the file again and puts
/// the new description in the place of the old one. `flags` are those of open(2). Returns `fd`; on failure the old
/// description stays.
long read_only(long fd, std::uint64_t flags);

/// Makes a file with this text, open for reading at its start. `name` ends with a NUL; `flags` are those of open(2).
/// Returns a descriptor or a negated errno.
long make_memory_file(const char* name, std::string_view text, std::uint64_t flags);

}  // namespace anyperf::engine
