// facts.cpp: after the samples, a perf.data file has sections of facts about the machine and the recording
// ("features"). A bit mask in the file's header says which ones the file has. Their places and sizes are in a table
// after the data, in the order of the bits. In pipe mode the same bodies come as records (HEADER_FEATURE).
//
// Each feature has its own layout, and shares only strings and lists with the others. So there is one short function
// for each, and a table with their numbers and names. A new feature of perf is a new row. A file with an unknown one
// can still be read, because the file's table has the size of each section.
#include "perfdata/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "perfdata/read_attr.h"
#include "perfdata/side_band.h"

namespace anyperf::perfdata {

namespace {

// Layouts: tools/perf/Documentation/perf.data-file-format.txt, checked against files that perf 6.1 wrote.
//
// Readers check nothing by themselves: the cursor's sticky failure marks the section as damaged (read_feature). Each
// loop is bounded by Cursor::count() with the smallest size that an entry can have: 4 bytes for an empty string.

/// A string of perf: u32 room, then that many bytes with a NUL inside.
std::string take_string(Cursor& cursor) {
    return std::string{cursor.text(cursor.u32())};
}

std::vector<std::string> take_list(Cursor& cursor) {
    std::vector<std::string> list;
    for (std::uint64_t left = cursor.count(cursor.u32(), 4); left > 0; --left) list.push_back(take_string(cursor));
    return list;
}

std::vector<Named> take_pairs(Cursor& cursor) {
    std::vector<Named> pairs;
    for (std::uint64_t left = cursor.count(cursor.u32(), 8); left > 0; --left) {
        Named pair;
        pair.name = take_string(cursor);
        pair.value = take_string(cursor);
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

template <auto Member>
void read_string(Cursor& cursor, Facts& facts) {
    facts.*Member = take_string(cursor);
}

template <auto Member>
void read_flag(Cursor&, Facts& facts) {
    facts.*Member = true;
}

void read_tracing_data(Cursor& cursor, Facts& facts) {
    const Bytes bytes = cursor.bytes(cursor.left());
    facts.tracing_data.assign(bytes.begin(), bytes.end());
}

// perf's documentation of the format has these two in the other order; perf's files have them in this one.
void read_cpus(Cursor& cursor, Facts& facts) {
    facts.cpus_available = cursor.u32();
    facts.cpus_online = cursor.u32();
}

void read_memory(Cursor& cursor, Facts& facts) {
    facts.memory_kib = cursor.u64();
}

void read_command_line(Cursor& cursor, Facts& facts) {
    facts.command_line = take_list(cursor);
}

/// Each entry has the header of a record, so that it also serves as one in pipe mode.
void read_build_ids(Cursor& cursor, Facts& facts, bool foreign) {
    while (cursor.left() >= kRecordHeader) {
        cursor.u32();  // 0, or the record's type
        const std::uint16_t misc = cursor.u16();
        const std::uint16_t size = cursor.u16();
        if (size < kRecordHeader) return cursor.fail();
        const Bytes body = cursor.bytes(size - kRecordHeader);
        if (cursor.ok()) facts.build_ids.push_back(read_build_id(body, misc, foreign));
    }
}

/// EVENT_DESC: the events again, with their names. The size of an attr is one number for all.
void read_events(Cursor& cursor, Facts& facts, bool foreign) {
    const std::uint64_t events = cursor.count(cursor.u32(), 16);
    const std::uint32_t attr_size = cursor.u32();
    facts.events.clear();
    for (std::uint64_t i = 0; i < events && cursor.ok(); ++i) {
        EventInfo event;
        event.attr = read_attr(cursor.bytes(attr_size), foreign);
        const std::uint32_t ids = cursor.u32();
        event.name = take_string(cursor);
        for (std::uint64_t left = cursor.count(ids, 8); left > 0; --left) event.ids.push_back(cursor.u64());
        if (cursor.ok()) facts.events.push_back(std::move(event));
    }
}

/// After the sibling lists comes a {core, socket} for each CPU; newer perfs add the dies. The number of CPUs is in
/// NRCPUS, which has a lower feature number and so was read before. The dies are there if bytes are left.
void read_cpu_topology(Cursor& cursor, Facts& facts) {
    facts.core_siblings = take_list(cursor);
    facts.thread_siblings = take_list(cursor);
    for (std::uint32_t i = 0; i < facts.cpus_available && cursor.left() >= 8; ++i) {
        const std::uint32_t core = cursor.u32();
        facts.cpu_places.push_back({core, cursor.u32(), 0});
    }
    if (cursor.left() < 4) return;
    facts.die_siblings = take_list(cursor);
    for (CpuPlace& place : facts.cpu_places) place.die = cursor.left() >= 4 ? cursor.u32() : 0;
}

// Nothing here is aligned: after the u32 of the node the 64-bit sizes are at a multiple of 4. The cursor copies bytes,
// so this needs no care.
void read_numa_topology(Cursor& cursor, Facts& facts) {
    for (std::uint64_t left = cursor.count(cursor.u32(), 24); left > 0; --left) {
        NumaNode node;
        node.node = cursor.u32();
        node.total_kib = cursor.u64();
        node.free_kib = cursor.u64();
        node.cpus = take_string(cursor);
        facts.numa_nodes.push_back(std::move(node));
    }
}

// PMU_MAPPINGS has the type as a number. It becomes a text because capabilities and hybrid PMUs are pairs of texts in
// the same structures.
void read_pmus(Cursor& cursor, Facts& facts) {
    for (std::uint64_t left = cursor.count(cursor.u32(), 8); left > 0; --left) {
        const std::string type = std::to_string(cursor.u32());
        facts.pmus.push_back({take_string(cursor), type});
    }
}

// The leader is an index into the events of the file, not an id.
void read_groups(Cursor& cursor, Facts& facts) {
    for (std::uint64_t left = cursor.count(cursor.u32(), 12); left > 0; --left) {
        Group group;
        group.name = take_string(cursor);
        group.leader = cursor.u32();
        group.members = cursor.u32();
        facts.groups.push_back(std::move(group));
    }
}

void read_caches(Cursor& cursor, Facts& facts) {
    cursor.u32();  // version 1
    for (std::uint64_t left = cursor.count(cursor.u32(), 28); left > 0; --left) {
        Cache cache;
        for (std::uint32_t* each : {&cache.level, &cache.line_bytes, &cache.sets, &cache.ways}) *each = cursor.u32();
        for (std::string* each : {&cache.type, &cache.size, &cache.cpus}) *each = take_string(cursor);
        facts.caches.push_back(std::move(cache));
    }
}

void read_sample_time(Cursor& cursor, Facts& facts) {
    facts.first_ns = cursor.u64();
    facts.last_ns = cursor.u64();
}

void read_memory_topology(Cursor& cursor, Facts& facts) {
    cursor.u64();  // version 1
    facts.memory_block_bytes = cursor.u64();
}

void read_clock_id(Cursor& cursor, Facts& facts) {
    facts.clock_resolution_ns = cursor.u64();
}

void read_bpf_programs(Cursor& cursor, Facts& facts) {
    facts.bpf_programs = cursor.u32();
}

void read_bpf_types(Cursor& cursor, Facts& facts) {
    facts.bpf_types = cursor.u32();
}

// The type is 1 for zstd, the only one that perf has. The decompressor notices any other by its magic number.
void read_compressed(Cursor& cursor, Facts& facts) {
    cursor.skip(8);  // version, type
    facts.compression_level = cursor.u32();
    facts.compression_ratio = cursor.u32();
    facts.compression_limit = cursor.u32();
}

// The capabilities of the core PMU as older perfs write them; newer ones write PMU_CAPS, which has the PMU's name.
void read_cpu_pmu_capabilities(Cursor& cursor, Facts& facts) {
    std::ranges::move(take_pairs(cursor), std::back_inserter(facts.pmu_capabilities));
}

/// CLOCK_DATA: one moment on the wall clock and on the clock of the samples. The difference converts the times.
void read_clock_data(Cursor& cursor, Facts& facts) {
    cursor.u32();  // version 1
    facts.clock_id = cursor.u32();
    facts.wall_clock_ns = cursor.u64();
    facts.clock_ns = cursor.u64();
}

/// HYBRID_TOPOLOGY: the core PMUs of a hybrid CPU, each with its list of CPUs ("cpu_core", "0-15").
void read_hybrid_topology(Cursor& cursor, Facts& facts) {
    std::ranges::move(take_pairs(cursor), std::back_inserter(facts.pmus));
}

/// PMU_CAPS: for each PMU its capabilities, then its name. They become "cpu_core/branches".
void read_pmu_capabilities(Cursor& cursor, Facts& facts) {
    for (std::uint64_t left = cursor.count(cursor.u32(), 8); left > 0; --left) {
        std::vector<Named> pairs = take_pairs(cursor);
        const std::string pmu = take_string(cursor);
        for (Named& pair : pairs) facts.pmu_capabilities.push_back({pmu + "/" + pair.name, std::move(pair.value)});
    }
}

template <auto Read>
void read_files(Cursor& cursor, Facts& facts) {
    Read(cursor, facts.files);
}

/// Pairs of texts, each with a NUL.
void read_meta_info(Cursor& cursor, Facts& facts) {
    while (cursor.left() > 0) {
        std::string key{cursor.text()};
        facts.meta.push_back({std::move(key), std::string{cursor.text()}});
    }
}

void read_directory_format(Cursor& cursor, Facts& facts) {
    facts.directory_version = cursor.u64();
}

/// How a feature is read. One without a reader has nothing that reports or exports show, except BUILD_ID and
/// EVENT_DESC: their functions need the byte order, so read_feature() calls them itself.
struct Row {
    Feature feature;
    std::string_view name;  ///< HEADER_… in perf's sources
    void (*read)(Cursor&, Facts&);
};
// In the order of the features' numbers, with perf's names, by which damaged sections are reported.
constexpr std::array kRows{
    Row{Feature::tracing_data, "TRACING_DATA", read_tracing_data},
    Row{Feature::build_id, "BUILD_ID", nullptr},
    Row{Feature::hostname, "HOSTNAME", read_string<&Facts::host>},
    Row{Feature::os_release, "OSRELEASE", read_string<&Facts::release>},
    Row{Feature::version, "VERSION", read_string<&Facts::version>},
    Row{Feature::arch, "ARCH", read_string<&Facts::arch>},
    Row{Feature::cpus, "NRCPUS", read_cpus},
    Row{Feature::cpu_description, "CPUDESC", read_string<&Facts::cpu>},
    Row{Feature::cpu_id, "CPUID", read_string<&Facts::cpu_id>},
    Row{Feature::total_memory, "TOTAL_MEM", read_memory},
    Row{Feature::command_line, "CMDLINE", read_command_line},
    Row{Feature::event_description, "EVENT_DESC", nullptr},
    Row{Feature::cpu_topology, "CPU_TOPOLOGY", read_cpu_topology},
    Row{Feature::numa_topology, "NUMA_TOPOLOGY", read_numa_topology},
    Row{Feature::branch_stack, "BRANCH_STACK", read_flag<&Facts::branch_stack>},
    Row{Feature::pmu_mappings, "PMU_MAPPINGS", read_pmus},
    Row{Feature::group_description, "GROUP_DESC", read_groups},
    Row{Feature::auxtrace, "AUXTRACE", read_flag<&Facts::auxtrace>},
    Row{Feature::stat, "STAT", read_flag<&Facts::stat>},
    Row{Feature::cache, "CACHE", read_caches},
    Row{Feature::sample_time, "SAMPLE_TIME", read_sample_time},
    Row{Feature::memory_topology, "MEM_TOPOLOGY", read_memory_topology},
    Row{Feature::clock_id, "CLOCKID", read_clock_id},
    Row{Feature::directory_format, "DIR_FORMAT", read_directory_format},
    Row{Feature::bpf_program_info, "BPF_PROG_INFO", read_bpf_programs},
    Row{Feature::bpf_btf, "BPF_BTF", read_bpf_types},
    Row{Feature::compressed, "COMPRESSED", read_compressed},
    Row{Feature::cpu_pmu_capabilities, "CPU_PMU_CAPS", read_cpu_pmu_capabilities},
    Row{Feature::clock_data, "CLOCK_DATA", read_clock_data},
    Row{Feature::hybrid_topology, "HYBRID_TOPOLOGY", read_hybrid_topology},
    Row{Feature::pmu_capabilities, "PMU_CAPS", read_pmu_capabilities},
    Row{Feature::cpu_domain_info, "CPU_DOMAIN_INFO", nullptr},
    Row{Feature::simpleperf_file, "FILE", read_files<read_recorded_files>},
    Row{Feature::simpleperf_meta_info, "META_INFO", read_meta_info},
    Row{Feature::simpleperf_file2, "FILE2", read_files<read_recorded_messages>},
};

}  // namespace

std::string feature_name(Feature feature) {
    const auto row = std::ranges::find(kRows, feature, &Row::feature);
    if (row != kRows.end()) return std::string{row->name};
    return fmt::format("feature {}", static_cast<unsigned>(feature));
}

BuildId read_build_id(Bytes body, std::uint16_t misc, bool foreign) {
    constexpr std::size_t kBytes = 20;
    Cursor cursor{body, foreign};
    BuildId id;
    id.pid = cursor.u32();
    id.kernel = (misc & kMiscModeMask) == kMiscKernel;
    const Bytes bytes = cursor.bytes(kBytes);
    const std::size_t size = cursor.u8();
    cursor.skip(3);
    id.path = cursor.text();
    // Before perf 5.10 the size was not written, and its byte has any value.
    const std::size_t valid = (misc & kMiscBuildIdSize) != 0 ? std::min(size, bytes.size()) : bytes.size();
    id.id = hexadecimal(bytes.first(valid));
    return id;
}

void read_feature(Feature feature, Bytes body, bool foreign, Facts& facts) {
    Cursor cursor{body, foreign};
    const auto row = std::ranges::find(kRows, feature, &Row::feature);
    if (feature == Feature::build_id)
        read_build_ids(cursor, facts, foreign);
    else if (feature == Feature::event_description)
        read_events(cursor, facts, foreign);
    else if (row != kRows.end() && row->read)
        row->read(cursor, facts);
    if (!cursor.ok()) facts.damaged.push_back(feature_name(feature));
}

}  // namespace anyperf::perfdata
