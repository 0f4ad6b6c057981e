// feature_bodies.cpp: the counterpart of facts.cpp: one function for each feature, which writes what that file reads.
// A feature of perf without a row here is not written.
#include "perfdata/writer/feature_bodies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>

#include "perfdata/writer/byte_writer.h"

namespace anyperf::perfdata {

namespace {

// Layouts as in facts.cpp. perf pads each string to a multiple of 64 bytes (do_write_string(), NAME_ALIGN).
constexpr std::size_t kNameAlign = 64;
constexpr std::size_t kBuildIdBytes = 20;

// A string is u32 room and that many bytes. The room includes the NUL and the padding, so a text of exactly 64 bytes
// takes 128.
void put_string(ByteWriter& to, std::string_view text) {
    to.u32(static_cast<std::uint32_t>((text.size() / kNameAlign + 1) * kNameAlign)).padded_text(text, kNameAlign);
}

void put_list(ByteWriter& to, const std::vector<std::string>& list) {
    to.u32(static_cast<std::uint32_t>(list.size()));
    for (const auto& text : list) put_string(to, text);
}

template <auto Member>
void write_string(ByteWriter& to, const Facts& facts) {
    if (!(facts.*Member).empty()) put_string(to, facts.*Member);
}

void write_tracing_data(ByteWriter& to, const Facts& facts) {
    to.bytes(facts.tracing_data);
}

void write_build_ids(ByteWriter& to, const Facts& facts) {
    for (const auto& id : facts.build_ids) to.bytes(build_id_entry(id, 0));
}

void write_cpus(ByteWriter& to, const Facts& facts) {
    if (facts.cpus_available != 0) to.u32(facts.cpus_available).u32(facts.cpus_online);
}

void write_memory(ByteWriter& to, const Facts& facts) {
    if (facts.memory_kib != 0) to.u64(facts.memory_kib);
}

void write_command_line(ByteWriter& to, const Facts& facts) {
    if (!facts.command_line.empty()) put_list(to, facts.command_line);
}

void write_events(ByteWriter& to, const Facts& facts) {
    if (facts.events.empty()) return;
    const std::uint32_t attr_size = attr_bytes(facts.events);
    to.u32(static_cast<std::uint32_t>(facts.events.size())).u32(attr_size);
    for (const auto& event : facts.events) {
        put_attr(to, event.attr, attr_size);
        to.u32(static_cast<std::uint32_t>(event.ids.size()));
        put_string(to, event.name);
        for (const std::uint64_t id : event.ids) to.u64(id);
    }
}

// The dies follow the places of the CPUs, as in read_cpu_topology() of facts.cpp: readers recognise them by the bytes
// that are left, so an empty list of dies must not be written.
void write_cpu_topology(ByteWriter& to, const Facts& facts) {
    if (facts.core_siblings.empty()) return;
    put_list(to, facts.core_siblings);
    put_list(to, facts.thread_siblings);
    for (const auto& place : facts.cpu_places) to.u32(place.core).u32(place.socket);
    if (facts.die_siblings.empty()) return;
    put_list(to, facts.die_siblings);
    for (const auto& place : facts.cpu_places) to.u32(place.die);
}

void write_numa_topology(ByteWriter& to, const Facts& facts) {
    if (facts.numa_nodes.empty()) return;
    to.u32(static_cast<std::uint32_t>(facts.numa_nodes.size()));
    for (const auto& node : facts.numa_nodes) {
        to.u32(node.node).u64(node.total_kib).u64(node.free_kib);
        put_string(to, node.cpus);
    }
}

void write_pmus(ByteWriter& to, const Facts& facts) {
    if (facts.pmus.empty()) return;
    to.u32(static_cast<std::uint32_t>(facts.pmus.size()));
    for (const auto& pmu : facts.pmus) {
        std::uint32_t type = 0;
        std::from_chars(pmu.value.data(), pmu.value.data() + pmu.value.size(), type);
        to.u32(type);
        put_string(to, pmu.name);
    }
}

void write_groups(ByteWriter& to, const Facts& facts) {
    if (facts.groups.empty()) return;
    to.u32(static_cast<std::uint32_t>(facts.groups.size()));
    for (const auto& group : facts.groups) {
        put_string(to, group.name);
        to.u32(group.leader).u32(group.members);
    }
}

// The first number is the version of the layout, always 1 so far (perf.data-file-format.txt).
void write_caches(ByteWriter& to, const Facts& facts) {
    if (facts.caches.empty()) return;
    to.u32(1).u32(static_cast<std::uint32_t>(facts.caches.size()));
    for (const auto& cache : facts.caches) {
        to.u32(cache.level).u32(cache.line_bytes).u32(cache.sets).u32(cache.ways);
        for (const auto* text : {&cache.type, &cache.size, &cache.cpus}) put_string(to, *text);
    }
}

void write_sample_time(ByteWriter& to, const Facts& facts) {
    if (facts.last_ns != 0) to.u64(facts.first_ns).u64(facts.last_ns);
}

void write_clock_id(ByteWriter& to, const Facts& facts) {
    if (facts.clock_resolution_ns != 0) to.u64(facts.clock_resolution_ns);
}

void write_directory_format(ByteWriter& to, const Facts& facts) {
    if (facts.directory_version != 0) to.u64(facts.directory_version);
}

// The limit is what a reader allocates for one unpacked record. It is 0 if the recording is not compressed.
void write_compressed(ByteWriter& to, const Facts& facts) {
    constexpr std::uint32_t kVersion = 1, kZstd = 1;
    if (facts.compression_limit == 0) return;
    to.u32(kVersion).u32(kZstd).u32(facts.compression_level).u32(facts.compression_ratio);
    to.u32(static_cast<std::uint32_t>(facts.compression_limit));
}

void write_clock_data(ByteWriter& to, const Facts& facts) {
    if (facts.wall_clock_ns != 0) to.u32(1).u32(facts.clock_id).u64(facts.wall_clock_ns).u64(facts.clock_ns);
}

// A writer that finds its facts unknown writes nothing, and the file then lacks the feature: readers take a missing
// section as "unknown", but would show an empty one as a fact.

/// How a feature is written. One that writes nothing is left out, unless `flag` is set.
struct Row {
    Feature feature;
    void (*write)(ByteWriter&, const Facts&);
    bool Facts::* flag = nullptr;  ///< for a feature without a body: whether the file has it
};
constexpr std::array kRows{
    Row{Feature::tracing_data, write_tracing_data},
    Row{Feature::build_id, write_build_ids},
    Row{Feature::hostname, write_string<&Facts::host>},
    Row{Feature::os_release, write_string<&Facts::release>},
    Row{Feature::version, write_string<&Facts::version>},
    Row{Feature::arch, write_string<&Facts::arch>},
    Row{Feature::cpus, write_cpus},
    Row{Feature::cpu_description, write_string<&Facts::cpu>},
    Row{Feature::cpu_id, write_string<&Facts::cpu_id>},
    Row{Feature::total_memory, write_memory},
    Row{Feature::command_line, write_command_line},
    Row{Feature::event_description, write_events},
    Row{Feature::cpu_topology, write_cpu_topology},
    Row{Feature::numa_topology, write_numa_topology},
    Row{Feature::branch_stack, nullptr, &Facts::branch_stack},
    Row{Feature::pmu_mappings, write_pmus},
    Row{Feature::group_description, write_groups},
    Row{Feature::cache, write_caches},
    Row{Feature::sample_time, write_sample_time},
    Row{Feature::clock_id, write_clock_id},
    Row{Feature::directory_format, write_directory_format},
    Row{Feature::compressed, write_compressed},
    Row{Feature::clock_data, write_clock_data},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::feature));  // the table in the file is in this order

/// Hexadecimal digits as bytes, up to the first character that is not a digit.
std::vector<std::byte> bytes_of(std::string_view hexadecimal) {
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at + 2 <= hexadecimal.size(); at += 2) {
        unsigned value = 0;
        const char* const digits = hexadecimal.data() + at;
        if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) break;
        bytes.push_back(std::byte(value));
    }
    return bytes;
}

}  // namespace

// The attr of anyperf is the newest one. perf refuses an attr that is longer than its own unless the surplus is zero,
// and in pipe mode an older perf takes the surplus for ids. So the file has the shortest published size that loses
// nothing.
std::uint32_t attr_bytes(std::span<const EventInfo> events) {
    static_assert(offsetof(abi::Attr, config3) == 128 && offsetof(abi::Attr, config4) == 136);
    std::uint32_t size = offsetof(abi::Attr, config3);
    for (const auto& event : events) {
        if (event.attr.config3 != 0) size = std::max<std::uint32_t>(size, offsetof(abi::Attr, config4));
        if (event.attr.config4 != 0) size = sizeof(abi::Attr);
    }
    return size;
}

void put_attr(ByteWriter& to, const abi::Attr& attr, std::uint32_t size) {
    abi::Attr sized = attr;
    sized.size = size;
    to.bytes(std::as_bytes(std::span{&sized, 1}).first(size));
}

// struct perf_record_header_build_id of perf: pid, 20 bytes of id, its length and 3 bytes of padding, the path. The
// length is valid only with kMiscBuildIdSize: perf did not write it before 5.10 (read_build_id()).
std::vector<std::byte> build_id_entry(const BuildId& id, std::uint32_t type) {
    auto bytes = bytes_of(id.id);
    const auto size = static_cast<std::uint8_t>(std::min(bytes.size(), kBuildIdBytes));
    bytes.resize(kBuildIdBytes);
    const std::uint16_t mode = id.kernel ? kMiscKernel : kMiscUser;
    RecordWriter entry{RecordType{type}, static_cast<std::uint16_t>(mode | kMiscBuildIdSize)};
    entry.u32(id.pid).bytes(bytes).put(size).zeros(3);
    entry.padded_text(id.path, kNameAlign);
    return entry.finish();
}

std::vector<FeatureBody> feature_bodies(const Facts& facts) {
    std::vector<FeatureBody> bodies;
    for (const Row& row : kRows) {
        ByteWriter body;
        if (row.write != nullptr) row.write(body, facts);
        const bool is_set = row.flag != nullptr && facts.*row.flag;
        if (body.size() != 0 || is_set) bodies.push_back({row.feature, body.take()});
    }
    return bodies;
}

}  // namespace anyperf::perfdata
