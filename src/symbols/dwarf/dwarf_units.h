// dwarf_units.h: the compilation units of a file's DWARF, which elfutils' libdw reads. Opening it costs as much as a
// short report where the sections are compressed, as in the debug files of distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/dwarf/code_table.h"
#include "symbols/dwarf/source_frame.h"

namespace anyperf::symbols {

/// The arrays of a unit.
struct GatheredCode {
    std::vector<FunctionRange> ranges;
    std::vector<CodeFunction> functions;
    std::vector<InlinedCall> calls;
    std::string texts;

    CodeTable view() const { return {ranges, functions, calls, texts}; }
};

/// Not thread-safe. The texts of lines live as long as this.
class DwarfUnits {
  public:
    /// Null if the file has no DWARF that libdw can read.
    static std::unique_ptr<DwarfUnits> open(const std::string& path);
    ~DwarfUnits();
    DwarfUnits(const DwarfUnits&) = delete;
    DwarfUnits& operator=(const DwarfUnits&) = delete;

    std::size_t size() const;
    const std::vector<UnitRange>& ranges() const;  ///< by begin
    /// Whether the functions of a unit are in a file of their own (.dwo).
    bool is_split() const;

    /// The functions of a unit, whose number is below size() here and below.
    GatheredCode gather(std::uint64_t unit);
    /// A line with the name of its file. Reading the unit's table of files takes libdw as long as all else, since it
    /// decodes the whole line program.
    SourceLine resolved(std::uint64_t unit, FileLine at);
    /// The line of an ELF address, also of code that no function has; line 0 if it is not known.
    SourceLine line(std::uint64_t unit, std::uint64_t address);

  private:
    struct State;
    explicit DwarfUnits(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace anyperf::symbols
