// debug_info.h: source lines and inlined functions of a file's code, from its DWARF. elfutils' libdw reads the DWARF; a
// unit's functions are gathered into arrays when the first address in it is looked up.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "symbols/elf_image.h"

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

class DebugInfo {
  public:
    /// Null if the file has no DWARF that libdw can read, or if the image is not of a file.
    static std::unique_ptr<DebugInfo> open(const ElfImage& image);
    ~DebugInfo();
    DebugInfo(const DebugInfo&) = delete;
    DebugInfo& operator=(const DebugInfo&) = delete;

    /// The functions that are active at an ELF address, from the innermost inlined one to the one that has the code.
    /// Empty if no function of the DWARF has the address. Not thread-safe.
    std::vector<SourceFrame> frames(std::uint64_t address);

    /// The line of an ELF address, also of code that no function has; line 0 if it is not known. Not thread-safe.
    SourceLine line(std::uint64_t address);

  private:
    struct Tables;
    explicit DebugInfo(std::unique_ptr<Tables> tables);

    std::unique_ptr<Tables> tables_;
};

/// Whether the file has DWARF about functions.
bool has_debug_info(const ElfImage& image);

}  // namespace anyperf::symbols
