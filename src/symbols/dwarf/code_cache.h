// code_cache.h: the functions of a file's compilation units (code_table.h), kept in a file of the user for each build
// id. Reading DWARF takes most of the time of a report with inlined functions. A unit is kept once an address in it has
// been looked up; the file is mapped, so a report touches only the units that it needs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/cache_file.h"
#include "symbols/dwarf/code_table.h"
#include "symbols/dwarf/dwarf_units.h"

namespace anyperf::symbols {

/// Where the arrays of a unit are in the file.
struct UnitPlace {
    std::uint64_t offset = 0;  ///< 0: the file has none
    std::uint32_t ranges = 0, functions = 0, calls = 0, texts = 0;
};

/// A mapped file. Nothing in it is trusted.
class CodeCache {
  public:
    /// Nothing if the file is not there or not for this build id.
    static std::optional<CodeCache> open(const std::string& path, std::string_view build_id);

    std::size_t size() const { return places_.size(); }
    std::span<const UnitRange> ranges() const { return ranges_; }
    /// The functions of a unit, if the file has them and they are within it.
    std::optional<CodeTable> table(std::uint64_t unit) const;

  private:
    CacheFile file_;
    std::span<const UnitRange> ranges_;
    std::span<const UnitPlace> places_;
};

/// Replaces the file: the units of `gathered`, and those of the file that was there.
void write_code_cache(const std::string& path, std::string_view build_id, std::span<const UnitRange> ranges,
                      std::size_t units, const std::map<std::uint64_t, GatheredCode>& gathered,
                      const std::optional<CodeCache>& before);

}  // namespace anyperf::symbols
