// side_band.cpp: one function for each kind of record. A read past the end gives 0 and makes the cursor fail.
// if_complete() then drops the record, so that no record is used in part.
#include "perfdata/side_band.h"

#include <algorithm>

namespace anyperf::perfdata {

namespace {

constexpr std::uint32_t kProtExec = 4, kMapShared = 1;  // PROT_EXEC, MAP_SHARED of mmap(2)
constexpr std::size_t kLongestBuildId = 20;

RecordHeader header_of(Bytes record) {
    return load<RecordHeader>(record.data());
}

Cursor body_of(Bytes record) {
    Cursor cursor{record};
    cursor.skip(kRecordHeader);
    return cursor;
}

template <class Decoded>
std::optional<Decoded> if_complete(const Cursor& cursor, Decoded decoded) {
    return cursor.ok() ? std::optional{std::move(decoded)} : std::nullopt;
}

}  // namespace

std::string hexadecimal(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

std::optional<MapRecord> read_map(Bytes record) {
    const RecordHeader header = header_of(record);
    Cursor cursor = body_of(record);
    MapRecord map;
    map.pid = cursor.u32();
    map.tid = cursor.u32();
    map.start = cursor.u64();
    map.size = cursor.u64();
    map.file_offset = cursor.u64();
    // perf's own map of the kernel has pid ~0. Records of the kernel and its modules have the kernel's mode.
    map.kernel = (header.misc & kMiscModeMask) == kMiscKernel || map.pid == ~0u;
    // Bit 13 of MMAP is PERF_RECORD_MISC_MMAP_DATA: a mapping without PROT_EXEC. MMAP2 has the protection itself.
    map.executable = (header.misc & kMiscBit13) == 0;
    if (header.type == RecordType::mmap2) {
        // Either device and inode, or the build id: 24 bytes.
        const Bytes identifying = cursor.bytes(24);
        Cursor identity{identifying};
        if ((header.misc & kMiscMmapBuildId) != 0) {
            const std::size_t size = identity.u8();
            identity.skip(3);
            map.build_id = hexadecimal(identity.bytes(std::min(size, kLongestBuildId)));
        }
        map.executable = (cursor.u32() & kProtExec) != 0;
        const bool has_file = std::ranges::any_of(identifying, [](std::byte each) { return each != std::byte{}; });
        map.shared = (cursor.u32() & kMapShared) != 0 && has_file;
    }
    map.path = cursor.text();
    return if_complete(cursor, std::move(map));
}

std::optional<CommRecord> read_comm(Bytes record) {
    Cursor cursor = body_of(record);
    CommRecord comm;
    comm.pid = cursor.u32();
    comm.tid = cursor.u32();
    comm.exec = (header_of(record).misc & kMiscBit13) != 0;
    comm.comm = cursor.text();
    return if_complete(cursor, comm);
}

// The order of FORK and EXIT is pid, ppid, tid, ptid; the time that follows is not needed.
std::optional<TaskRecord> read_task(Bytes record) {
    Cursor cursor = body_of(record);
    TaskRecord task;
    task.pid = cursor.u32();
    task.parent_pid = cursor.u32();
    task.tid = cursor.u32();
    task.parent_tid = cursor.u32();
    return if_complete(cursor, task);
}

std::optional<KernelSymbolRecord> read_kernel_symbol(Bytes record) {
    Cursor cursor = body_of(record);
    KernelSymbolRecord symbol;
    symbol.address = cursor.u64();
    symbol.size = cursor.u32();
    cursor.u16();  // type
    symbol.removed = (cursor.u16() & 1) != 0;
    symbol.name = cursor.text();
    return if_complete(cursor, symbol);
}

// After the ids comes a count of {device, inode}, in the order of PERF_NR_NAMESPACES: the cgroup's is the last of 7.
std::optional<NamespaceRecord> read_namespaces(Bytes record) {
    constexpr std::uint64_t kCgroup = 6;
    Cursor cursor = body_of(record);
    NamespaceRecord namespaces;
    namespaces.pid = cursor.u32();
    namespaces.tid = cursor.u32();
    if (cursor.count(cursor.u64(), 16) <= kCgroup) return std::nullopt;
    cursor.skip(kCgroup * 16);
    namespaces.cgroup_device = cursor.u64();
    namespaces.cgroup_inode = cursor.u64();
    return if_complete(cursor, namespaces);
}

std::optional<CgroupRecord> read_cgroup(Bytes record) {
    Cursor cursor = body_of(record);
    CgroupRecord cgroup;
    cgroup.id = cursor.u64();
    cgroup.path = cursor.text();
    return if_complete(cursor, cgroup);
}

}  // namespace anyperf::perfdata
