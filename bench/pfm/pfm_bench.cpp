// pfm_bench.cpp: our libpfm.so.4 compared with Debian's in one run, through the interface that programs use. Each case
// is measured with both libraries (debian/CASE, ours/CASE); the ratio in docs/promises.md is ours over Debian's. It
// needs no PMU, because inactive event tables are enabled (LIBPFM_ENCODE_INACTIVE).
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const char* const kOurs = ANYPERF_BINARY_DIR "/lib/libpfm.so.4";
const char* const kDebian = "/usr/lib/x86_64-linux-gnu/libpfm.so.4";

/// One libpfm with its entry points. RTLD_LOCAL lets both libraries, with the same symbols, be loaded at once.
struct Library {
    explicit Library(const char* file) : handle(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        find(initialize, "pfm_initialize");
        find(terminate, "pfm_terminate");
        find(encode, "pfm_get_os_event_encoding");
        find(pmu_info, "pfm_get_pmu_info");
        find(next, "pfm_get_event_next");
        find(event_info, "pfm_get_event_info");
    }
    template <class Call>
    void find(Call& call, const char* name) const {
        call = handle == nullptr ? nullptr : reinterpret_cast<Call>(::dlsym(handle, name));
    }
    void* handle;
    decltype(&pfm_initialize) initialize = nullptr;
    decltype(&pfm_terminate) terminate = nullptr;
    decltype(&pfm_get_os_event_encoding) encode = nullptr;
    decltype(&pfm_get_pmu_info) pmu_info = nullptr;
    decltype(&pfm_get_event_next) next = nullptr;
    decltype(&pfm_get_event_info) event_info = nullptr;
};

/// pfm_initialize(), which detects the CPU and its PMUs.
void initialize(benchmark::State& state, const char* file) {
    const Library library{file};
    for (auto _ : state) {
        benchmark::DoNotOptimize(library.initialize());
        library.terminate();
    }
}

void encode(benchmark::State& state, const char* file, const char* text, bool canonical) {
    const Library library{file};
    library.initialize();
    for (auto _ : state) {
        char* string = nullptr;
        perf_event_attr attr;
        std::memset(&attr, 0, sizeof attr);
        pfm_perf_encode_arg_t argument{};
        argument.attr = &attr;
        argument.fstr = canonical ? &string : nullptr;
        benchmark::DoNotOptimize(library.encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument));
        std::free(string);
    }
    library.terminate();
}

/// Walks all events of all PMUs, as tools that list events do.
void enumerate(benchmark::State& state, const char* file) {
    const Library library{file};
    library.initialize();
    int events = 0;
    for (auto _ : state) {
        events = 0;
        for (int id = 0; id < PFM_PMU_MAX; ++id) {
            pfm_pmu_info_t pmu{};
            pmu.size = sizeof pmu;
            // Debian's build only has x86 PMUs; ours has others, too. The result is a rate of events.
            if (library.pmu_info(static_cast<pfm_pmu_t>(id), &pmu) != PFM_SUCCESS) continue;
            for (int index = pmu.first_event; index != -1; index = library.next(index)) {
                pfm_event_info_t event{};
                event.size = sizeof event;
                library.event_info(index, PFM_OS_NONE, &event);
                ++events;
            }
        }
    }
    state.SetItemsProcessed(state.iterations() * events);
    library.terminate();
}

/// An event string to encode.
struct Case {
    const char* name;
    const char* text;
    bool canonical;  ///< also return the canonical name (fstr)
};
constexpr Case kCases[] = {
    {"encode/cycles", "cycles", false},
    {"encode/cycles/canonical", "cycles", true},
    {"encode/skl", "skl::INST_RETIRED:ANY_P", false},
    {"encode/skl/canonical", "skl::INST_RETIRED:ANY_P", true},
    {"encode/offcore", "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_ANY", false},
    {"encode/offcore/canonical", "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_ANY", true},
    {"encode/zen2", "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", false},
    {"encode/zen2/mask", "amd64_fam17h_zen2::RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS", false},
    {"encode/cha", "skx_unc_cha0::UNC_C_TOR_INSERTS:IA_MISS", false},
    {"encode/unknown", "NO_SUCH_EVENT", false},
};

void add(const char* whose, const char* file) {
    const std::string prefix = std::string{whose} + "/";
    benchmark::RegisterBenchmark((prefix + "initialize").c_str(), initialize, file);
    for (const Case& row : kCases)
        benchmark::RegisterBenchmark((prefix + row.name).c_str(), encode, file, row.text, row.canonical);
    benchmark::RegisterBenchmark((prefix + "enumerate").c_str(), enumerate, file);
}

}  // namespace

int main(int argc, char** argv) {
    ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    add("debian", kDebian);
    add("ours", kOurs);
    benchmark::Initialize(&argc, argv);
    if (::access(kDebian, R_OK) != 0) {
        std::fputs("Debian's libpfm4 is not installed: nothing to compare with\n", stderr);
        return 125;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
