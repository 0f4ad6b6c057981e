// jit_dump.h: the code that a JIT compiler writes to jit-PID.dump while it runs
// (tools/perf/Documentation/jitdump-specification.txt): each function's address, size, name, bytes, source lines, and
// the time from which on it is there. So memory that is used for one function after the other has the right name at
// each time, which a perf map (perf_map.h) cannot show.
//
// The compiler maps a page of the file as code, and that MMAP record says that the process has such a file. Any user
// may write one, so nothing in it is trusted: its contents are only texts to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Code that is at an address from a time on.
struct JitCode {
    std::uint64_t time = 0;  ///< in ns of CLOCK_MONOTONIC, unless JitDump::other_clock
    std::uint64_t start = 0, size = 0;
    std::uint64_t file_offset = 0;  ///< of its bytes, by which `symbols` knows it
};

/// The source line of the code from an offset on, up to the next one of its function.
struct JitLine {
    std::uint64_t file_offset = 0;
    std::uint32_t line = 0;
    std::uint32_t file = 0;  ///< index of JitDump::files
};

struct JitDump {
    std::vector<JitCode> loaded;  ///< in the order of the file
    std::vector<JitCode> moved;   ///< with the new addresses
    SymbolTable symbols;          ///< by the offset in the file
    std::vector<JitLine> lines;   ///< in the order of the offsets
    std::vector<std::string> files;
    bool other_clock = false;   ///< the times are those of a counter of the CPU
    std::uint32_t machine = 0;  ///< EM_X86_64 …

    std::string path;  ///< the file that was read

    /// The bytes of code. Empty if the file does not have them any more.
    std::vector<std::byte> read_code(std::uint64_t file_offset, std::uint64_t size) const;
    /// The address at which the code at `file_offset` was loaded. Precondition: `symbols` has a symbol there.
    std::uint64_t address_of(std::uint64_t file_offset) const;
    /// The source line of an instruction of the function at `function`; null: it is not known. Both are offsets.
    const JitLine* line_at(std::uint64_t file_offset, std::uint64_t function) const;
};

/// Whether a file of this path that is mapped as code is one: its name is jit-NUMBER.dump.
bool is_jit_dump(std::string_view path);

/// Reads as far as the file is complete: the process may be killed while it writes. Error: the file cannot be opened,
/// or does not begin as one.
Result<JitDump> read_jit_dump(const std::string& path);
/// `path` is for the error.
Result<JitDump> read_jit_dump(std::istream& file, const std::string& path);

}  // namespace anyperf::symbols
