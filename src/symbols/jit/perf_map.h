// perf_map.h: the names that JIT compilers leave in /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt).
//
// The file says what was at an address at some time, not when. If a JIT has used memory again, samples of the older
// code get the newer name; perf has the same limit. Any user may write a file of that name, so its contents are only
// texts to show.
#pragma once

#include <istream>
#include <string>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Lines "START SIZE NAME" with hexadecimal numbers; other lines are left out. A later line about the same address is
/// newer code and wins. Fails if the file can't be read.
Result<SymbolTable> read_perf_map(const std::string& path);
SymbolTable read_perf_map(std::istream& file);

}  // namespace anyperf::symbols
