// source_frame.h: a place in the source, and a function that is active at an address.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::symbols {

/// A line of a source file. The text lives as long as the DebugInfo.
struct SourceLine {
    std::string_view file;   ///< with its directory; empty: unknown
    std::uint32_t line = 0;  ///< 0: unknown
};

/// A function that is active at an address.
struct SourceFrame {
    std::string_view name;  ///< the linkage name, or the plain name if it has none, as C functions; may be empty
    SourceLine at;          ///< the innermost: the line of the address; the others: the line of the call inlined there
    SourceLine declared;
};

}  // namespace anyperf::symbols
