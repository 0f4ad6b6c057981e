// probe_place.h: converts the place of a uprobe, SYMBOL+OFFSET, to an offset in its file.
#pragma once

#include <filesystem>

#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// The offset in `file` of `place`: "main", "main+0x10", "puts@plt", "ns::f", or a number, which is returned unchanged.
/// `path` is the file as the user typed it, for messages. Error: the file can't be read; it has no such function, or
/// several; the function is an IFUNC; or the offset is not a number or is too large.
Parsed<std::uint64_t> probe_offset(const std::filesystem::path& file, std::string_view path, std::string_view place);

}  // namespace anyperf::events
