// mapped_paths.h: which files are mapped at addresses, for people who look at the store (`anyperf cache`).
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// Calls visit(context, start, path) for each mapping of a file in /proc/self/maps; not at all without /proc. A path
/// that is longer than 400 bytes loses its beginning.
void for_each_mapped_path(void (*visit)(void* context, std::uint64_t start, std::string_view path), void* context);

}  // namespace anyperf::engine
