// fuzz_perf_map.cpp: a JIT's map, /tmp/perf-PID.map.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "symbols/jit/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
    const auto table = anyperf::symbols::read_perf_map(file);
    for (const auto& symbol : table) table.find(symbol.start);
    return 0;
}
