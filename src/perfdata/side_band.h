// side_band.h: the records about processes, decoded: names, maps, forks. Their layouts are those of enum
// perf_event_type in include/uapi/linux/perf_event.h and of perf_event_open(2), "MMAP layout".
//
// All functions take a record in this machine's byte order (byte_order.h) without its sample id: the text at its end
// would otherwise run into that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// MMAP or MMAP2. Views live as long as the record.
struct MapRecord {
    std::uint32_t pid = 0, tid = 0;
    std::uint64_t start = 0, size = 0, file_offset = 0;
    std::string build_id;    ///< hexadecimal; empty: not in the record
    bool executable = true;  ///< PROT_EXEC; of MMAP, which has no protection: not PERF_RECORD_MISC_MMAP_DATA
    bool shared = false;     ///< MAP_SHARED of a file, of MMAP2
    bool kernel = false;     ///< by the record's mode, or by the pid ~0 that perf gives the kernel's own map
    std::string_view path;
};

/// COMM: a thread's new name, of at most 15 bytes.
struct CommRecord {
    std::uint32_t pid = 0, tid = 0;
    bool exec = false;  ///< by an exec: the process has begun anew, without its maps and other threads
    std::string_view comm;
};

/// FORK or EXIT. Of FORK `pid` and `tid` are the new task's; it is a thread if pid and parent_pid are equal.
struct TaskRecord {
    std::uint32_t pid = 0, parent_pid = 0, tid = 0, parent_tid = 0;
};

/// KSYMBOL: code that the kernel generated, such as a BPF program.
struct KernelSymbolRecord {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    bool removed = false;
    std::string_view name;
};

/// NAMESPACES, as far as it is used: the device and inode of a task's cgroup namespace.
struct NamespaceRecord {
    std::uint32_t pid = 0, tid = 0;
    std::uint64_t cgroup_device = 0, cgroup_inode = 0;
};

/// CGROUP: the name of a cgroup, by the number that samples have.
struct CgroupRecord {
    std::uint64_t id = 0;
    std::string_view path;
};

// `record` is the whole record without its sample id. Nothing if it is too short.
std::optional<MapRecord> read_map(Bytes record);
std::optional<CommRecord> read_comm(Bytes record);
std::optional<TaskRecord> read_task(Bytes record);
std::optional<KernelSymbolRecord> read_kernel_symbol(Bytes record);
std::optional<NamespaceRecord> read_namespaces(Bytes record);
std::optional<CgroupRecord> read_cgroup(Bytes record);

/// Bytes as hexadecimal digits: how build ids are written.
std::string hexadecimal(Bytes bytes);

}  // namespace anyperf::perfdata
