// side_band.h: the records about processes, decoded: names, maps, forks.
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
    std::string build_id;  ///< hexadecimal; empty: not in the record
    bool executable = true;
    bool kernel = false;  ///< by the record's mode
    std::string_view path;
};

struct CommRecord {
    std::uint32_t pid = 0, tid = 0;
    bool exec = false;
    std::string_view comm;
};

/// FORK or EXIT.
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

// `record` is the whole record without its sample id. Nothing if it is too short.
std::optional<MapRecord> read_map(Bytes record);
std::optional<CommRecord> read_comm(Bytes record);
std::optional<TaskRecord> read_task(Bytes record);
std::optional<KernelSymbolRecord> read_kernel_symbol(Bytes record);

/// Bytes as hexadecimal digits: how build ids are written.
std::string hexadecimal(Bytes bytes);

}  // namespace anyperf::perfdata
