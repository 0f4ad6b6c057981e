// perf_map.cpp: /tmp/perf-PID.map, in which a JIT names the code that it has generated: a line "START SIZE NAME" for
// each function, numbers in hexadecimal (tools/perf/Documentation/jit-interface.txt). A JIT appends a line when it
// compiles a function, also where an older function was before; the last line of an address is valid. Lines of another
// form are skipped: the file may be written to while it is read.
#include "symbols/jit/perf_map.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>

namespace anyperf::symbols {

Result<SymbolTable> read_perf_map(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::unexpected(Error{"cannot read " + path, strerror(errno), {}});
    return read_perf_map(file);
}

SymbolTable read_perf_map(std::istream& file) {
    struct Code {
        std::uint64_t size;
        std::string name;
    };
    std::map<std::uint64_t, Code> found;
    for (std::string line; std::getline(file, line);) {
        std::uint64_t start = 0, size = 0;
        const char* end = line.data() + line.size();
        const auto [after_start, no_start] = std::from_chars(line.data(), end, start, 16);
        if (no_start != std::errc{} || after_start == end) continue;
        const auto [after_size, no_size] = std::from_chars(after_start + 1, end, size, 16);
        if (no_size != std::errc{} || end - after_size < 2) continue;
        found.insert_or_assign(start, Code{size, std::string{after_size + 1, end}});
    }
    SymbolTable table;
    for (const auto& [start, code] : found) table.add(start, code.size, code.name, {});
    table.finish();
    return table;
}

}  // namespace anyperf::symbols
