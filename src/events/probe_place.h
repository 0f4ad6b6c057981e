// probe_place.h: SYMBOL+OFFSET of a file as an offset in it.
#pragma once

#include <filesystem>

#include "events/fault.h"

namespace anyperf::events {

/// "main", "main+0x10", "puts@plt", "ns::f", or a number, which is the offset in the file itself.
Parsed<std::uint64_t> probe_offset(const std::filesystem::path& file, std::string_view path, std::string_view place);

}  // namespace anyperf::events
