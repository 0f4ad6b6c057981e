// event_string_bench.cpp: time to parse and encode one event string, for a recorded machine whose sysfs is already
// read. The aims are in docs/promises.md.
#include <benchmark/benchmark.h>

#include "anyperf/event.h"

namespace {

using anyperf::events::Machine;
using anyperf::events::parse;

void parse_and_encode(benchmark::State& state, const char* text) {
    const Machine machine = Machine::read(ANYPERF_SOURCE_DIR "/tests/fixtures/machines/intel-skylake-server");
    for (auto _ : state) {
        auto groups = parse(machine, text);
        if (!groups) state.SkipWithError(groups.error().cause.c_str());
        benchmark::DoNotOptimize(groups);
    }
}

BENCHMARK_CAPTURE(parse_and_encode, kernel_name, "cycles:u");
BENCHMARK_CAPTURE(parse_and_encode, cache_name, "L1-dcache-load-misses");
BENCHMARK_CAPTURE(parse_and_encode, pmu_terms, "cpu/event=0xc0,umask=1,cmask=2,inv/u");
BENCHMARK_CAPTURE(parse_and_encode, sysfs_event, "cpu/mem-loads,ldlat=30/pp");
BENCHMARK_CAPTURE(parse_and_encode, catalog_name, "BR_INST_RETIRED:CONDITIONAL:u");
BENCHMARK_CAPTURE(parse_and_encode, group_of_four, "{cycles,instructions,branches,branch-misses}:u");

}  // namespace

BENCHMARK_MAIN();
