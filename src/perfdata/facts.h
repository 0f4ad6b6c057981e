// facts.h: what the feature sections of a perf.data file say about the recording: on which machine, by which command
// and with which events it was made. Records can be read without them; only the events' names are here.
//
// The sections are optional, and old writers have less in them. A section that cannot be decoded is named in
// Facts::damaged, and the others are used. The same structures are the writer's input (writer/feature_bodies.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfdata/cursor.h"
#include "perfdata/file_header.h"
#include "perfdata/recorded_files.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// The build id of a file that samples are in (NT_GNU_BUILD_ID): with it a report finds the file's symbols later or on
/// another machine, and notices that a file has changed.
struct BuildId {
    std::uint32_t pid = 0;  ///< as in the file; perf writes ~0 for the host
    bool kernel = false;
    std::string id;  ///< hexadecimal
    std::string path;
};

/// GROUP_DESC: events that were opened as one group.
struct Group {
    std::string name;          ///< "{anon_group}" if the user gave none
    std::uint32_t leader = 0;  ///< index of the event
    std::uint32_t members = 0;
};

/// A name with its meaning: a PMU and its type, a capability and its value.
struct Named {
    std::string name;
    std::string value;
};

/// NUMA_TOPOLOGY. `cpus` is a list as in sysfs ("0-3,8").
struct NumaNode {
    std::uint32_t node = 0;
    std::uint64_t total_kib = 0, free_kib = 0;
    std::string cpus;
};

/// CACHE, one for each cache of the machine. The texts are those of /sys/devices/system/cpu/cpu*/cache/index*: type
/// ("Data"), size ("32K"), and the list of CPUs that share it.
struct Cache {
    std::uint32_t level = 0, line_bytes = 0, sets = 0, ways = 0;
    std::string type, size, cpus;
};

/// Where a CPU is. One for each CPU, in the order of their numbers.
struct CpuPlace {
    std::uint32_t core = 0, socket = 0, die = 0;
};

/// Unknown facts are empty or 0. The comments name the feature that a field comes from where the name of the field does
/// not show it.
struct Facts {
    std::string host, release, version, arch, cpu, cpu_id;
    std::vector<std::string> command_line;
    std::uint32_t cpus_available = 0, cpus_online = 0;
    std::uint64_t memory_kib = 0;
    std::vector<BuildId> build_ids;
    std::vector<EventInfo> events;  ///< with names; perf writes all events there
    std::vector<Group> groups;
    std::vector<Named> pmus;  ///< name and type
    std::vector<Named> pmu_capabilities;
    std::vector<std::string> core_siblings, thread_siblings, die_siblings;
    std::vector<CpuPlace> cpu_places;
    std::vector<NumaNode> numa_nodes;
    std::vector<Cache> caches;
    std::uint64_t first_ns = 0, last_ns = 0;        ///< SAMPLE_TIME
    std::uint64_t clock_resolution_ns = 0;          ///< CLOCKID
    std::uint32_t clock_id = 0;                     ///< CLOCK_DATA: of the samples' times,
    std::uint64_t wall_clock_ns = 0, clock_ns = 0;  ///< and one moment on both clocks
    std::uint64_t compression_limit = 0;            ///< COMPRESSED: bytes that one record unpacks to, at most
    std::uint32_t compression_level = 0, compression_ratio = 0;
    std::uint64_t memory_block_bytes = 0;           ///< MEM_TOPOLOGY
    std::uint64_t bpf_programs = 0, bpf_types = 0;  ///< number of BPF_PROG_INFO and BPF_BTF entries
    std::uint64_t directory_version = 0;            ///< DIR_FORMAT, of a recording in several files; perf has 1
    bool branch_stack = false;                      ///< samples have branches,
    bool auxtrace = false;                          ///< or hardware traces,
    bool stat = false;                              ///< or it is a file of `perf stat record`
    std::vector<std::byte> tracing_data;            ///< TRACING_DATA, undecoded
    std::vector<RecordedFile> files;                ///< FILE, FILE2 of simpleperf
    std::vector<Named> meta;                        ///< META_INFO of simpleperf
    std::string kernel_symbols;                     ///< text of the machine's /proc/kallsyms, from simpleperf
    std::vector<std::string> damaged;               ///< names of the sections that could not be read
};

/// Adds what one feature section says. Sections of unknown features are skipped.
void read_feature(Feature feature, Bytes body, bool foreign, Facts& facts);

/// The name of a feature in perf's sources: "HOSTNAME"; "feature 77" for one that has none here.
std::string feature_name(Feature feature);

/// One entry of BUILD_ID: the body of a HEADER_BUILD_ID record, with `misc` of its header.
BuildId read_build_id(Bytes body, std::uint16_t misc, bool foreign);

}  // namespace anyperf::perfdata
