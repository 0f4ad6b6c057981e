// types.h: the numbers of perf.data's own records, which perf writes beside the kernel's (tools/perf/Documentation/
// perf.data-file-format.txt; tools/lib/perf/include/perf/event.h), and those of the kernel's that a reader needs by
// name. Types below 64 are the kernel's (enum perf_event_type); perf takes its own from 64 on, so that the kernel may
// add some, and simpleperf from 32768 on.
#pragma once

#include <cstdint>

namespace anyperf::perfdata {

enum class RecordType : std::uint32_t {
    mmap = 1,
    lost = 2,
    comm = 3,
    exit = 4,
    fork = 7,
    read = 8,
    sample = 9,
    mmap2 = 10,
    lost_samples = 13,
    switch_ = 14,
    switch_cpu_wide = 15,
    namespaces = 16,
    ksymbol = 17,
    bpf_event = 18,
    cgroup = 19,
    text_poke = 20,
    callchain_deferred = 22,
    first_user = 64,
    header_attr = 64,
    header_event_type = 65,
    header_tracing_data = 66,
    header_build_id = 67,
    finished_round = 68,
    id_index = 69,
    auxtrace_info = 70,
    auxtrace = 71,
    auxtrace_error = 72,
    thread_map = 73,
    cpu_map = 74,
    stat_config = 75,
    stat = 76,
    stat_round = 77,
    event_update = 78,
    time_conv = 79,
    header_feature = 80,
    compressed = 81,
    finished_init = 82,
    compressed2 = 83,
    bpf_metadata = 84,
    schedstat_cpu = 85,
    schedstat_domain = 86,
    last_user = 86,
    // simpleperf's own (simpleperf.h): their headers have a size of 32 bits and no `misc`.
    first_simpleperf = 32768,
    simpleperf_kernel_symbols = 32769,
    simpleperf_dso = 32770,
    simpleperf_symbol = 32771,
    simpleperf_split = 32772,
    simpleperf_split_end = 32773,
    simpleperf_event_id = 32774,
    simpleperf_call_chain = 32775,
    simpleperf_unwinding_result = 32776,
    simpleperf_tracing_data = 32777,
    simpleperf_debug = 32778,
    last_simpleperf = 32778,
};

/// Bits of the header's bitmap: which feature sections a file has.
enum class Feature : unsigned {
    tracing_data = 1,
    build_id = 2,
    hostname = 3,
    os_release = 4,
    version = 5,
    arch = 6,
    cpus = 7,
    cpu_description = 8,
    cpu_id = 9,
    total_memory = 10,
    command_line = 11,
    event_description = 12,
    cpu_topology = 13,
    numa_topology = 14,
    branch_stack = 15,
    pmu_mappings = 16,
    group_description = 17,
    auxtrace = 18,
    stat = 19,
    cache = 20,
    sample_time = 21,
    memory_topology = 22,
    clock_id = 23,
    directory_format = 24,
    bpf_program_info = 25,
    bpf_btf = 26,
    compressed = 27,
    cpu_pmu_capabilities = 28,
    clock_data = 29,
    hybrid_topology = 30,
    pmu_capabilities = 31,
    cpu_domain_info = 32,
    // simpleperf's own.
    simpleperf_file = 128,
    simpleperf_meta_info = 129,
    simpleperf_file2 = 132,
    simpleperf_initial_maps = 134,
};

inline constexpr std::size_t kRecordHeader = 8;       // u32 type, u16 misc, u16 size
inline constexpr std::size_t kLongestRecord = 65535;  // the size has 16 bits

/// Bits of RecordHeader::misc.
inline constexpr std::uint16_t kMiscModeMask = 7, kMiscKernel = 1, kMiscUser = 2;
inline constexpr std::uint16_t kMiscBit13 = 1 << 13;  // MMAP_DATA, COMM_EXEC, FORK_EXEC, SWITCH_OUT
inline constexpr std::uint16_t kMiscMmapBuildId = 1 << 14;
inline constexpr std::uint16_t kMiscBuildIdSize = 1 << 15;

/// A record as it lies in the file or in memory, in this machine's byte order.
struct RecordHeader {
    RecordType type;
    std::uint16_t misc;
    std::uint16_t size;
};
static_assert(sizeof(RecordHeader) == kRecordHeader);

}  // namespace anyperf::perfdata
