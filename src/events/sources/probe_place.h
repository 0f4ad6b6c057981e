// probe_place.h: the place of a uprobe, SYMBOL+OFFSET, as an offset in its file.
#pragma once

#include <filesystem>

#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// `place` is "main", "main+0x10", "puts@plt", "ns::f", or a number, which is already an offset in the file. `path` is
/// the file as typed, for messages. Fails if the file can't be read, or has no such function, or several.
Parsed<std::uint64_t> probe_offset(const std::filesystem::path& file, std::string_view path, std::string_view place);

}  // namespace anyperf::events
