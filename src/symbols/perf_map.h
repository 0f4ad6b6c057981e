// perf_map.h: the names that JIT compilers leave in /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt).
#pragma once

#include <string>

#include "anyperf/error.h"
#include "symbols/symbol_table.h"

namespace anyperf::symbols {

/// Lines "START SIZE NAME" with hexadecimal numbers; other lines are left out. A later line about the same address is
/// newer code and wins. Fails if the file can't be read.
Result<SymbolTable> read_perf_map(const std::string& path);

}  // namespace anyperf::symbols
