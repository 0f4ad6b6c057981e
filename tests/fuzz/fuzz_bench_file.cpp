// fuzz_bench_file.cpp: any bytes as the file of `anyperf bench` give an error with a cause, or benches that can be started.
#include <cstdlib>
#include <string_view>

#include "cli/bench/bench_file.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace anyperf::cli::bench;
    const auto file = parse_bench_file({reinterpret_cast<const char*>(data), size}, "bench.toml");
    if (!file) {
        require(!file.error().what.empty() && !file.error().cause.empty());
        return 0;
    }
    require(!file->benches.empty());
    for (const Bench& bench : file->benches) {
        require(!bench.name.empty() && !bench.command.empty() && !bench.events.empty() && bench.runs >= 2);
        require(!bench.directory.empty());
        for (const auto& limit : bench.limits) require(limit.percent >= 0);
    }
    return 0;
}
