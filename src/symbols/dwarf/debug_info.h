// debug_info.h: source lines and inlined functions of a file's code, from its DWARF. A unit's functions are gathered
// into arrays when the first address in it is looked up, and kept on disk for the next time (code_cache.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbols/dwarf/code_cache.h"
#include "symbols/dwarf/dwarf_units.h"
#include "symbols/dwarf/source_frame.h"
#include "symbols/elf_image.h"

namespace anyperf::symbols {

class DebugInfo {
  public:
    /// Null if the file has no DWARF that libdw can read, or if the image is not of a file. `cache` is the directory of
    /// the kept functions, or empty.
    static std::unique_ptr<DebugInfo> open(const ElfImage& image, const std::string& cache = {});
    /// Keeps what was gathered.
    ~DebugInfo();
    DebugInfo(const DebugInfo&) = delete;
    DebugInfo& operator=(const DebugInfo&) = delete;

    /// The functions that are active at an ELF address, from the innermost inlined one to the one that has the code.
    /// Empty if no function of the DWARF has the address. Without lines, only the names are set. Not thread-safe.
    enum class Lines : std::uint8_t { none, all };
    std::vector<SourceFrame> frames(std::uint64_t address, Lines lines = Lines::all);

    /// The line of an ELF address, also of code that no function has; line 0 if it is not known. Not thread-safe.
    SourceLine line(std::uint64_t address);

  private:
    DebugInfo(std::string path, std::string cache_path, std::string build_id);

    /// Null if it can't be read.
    DwarfUnits* dwarf();
    std::span<const UnitRange> ranges();
    std::optional<std::uint64_t> unit_at(std::uint64_t address);
    std::optional<CodeTable> table_of(std::uint64_t unit);

    std::string path_, cache_path_, build_id_;
    std::optional<CodeCache> kept_;
    std::unique_ptr<DwarfUnits> dwarf_;
    bool opened_ = false;                             // dwarf_ was opened, or cannot be
    std::map<std::uint64_t, GatheredCode> gathered_;  // by unit
};

/// Whether the file has DWARF about functions.
bool has_debug_info(const ElfImage& image);

}  // namespace anyperf::symbols
