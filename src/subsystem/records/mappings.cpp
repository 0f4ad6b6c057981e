#include "subsystem/records/mappings.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <climits>

namespace anyperf::subsystem {
namespace {

// Bits of misc (uapi/linux/perf_event.h, PERF_RECORD_MISC_…).
constexpr std::uint16_t kUser = 2;
constexpr std::uint16_t kMmapData = 1u << 13;
constexpr std::uint16_t kMmapBuildId = 1u << 14;
constexpr std::size_t kBuildIdBytes = 20;

/// What MMAP and MMAP2 begin with.
Record start(std::uint32_t type, std::uint16_t misc, const TaskMapping& mapped) {
    Record record{type, static_cast<std::uint16_t>(misc | kUser | (mapped.executable() ? 0 : kMmapData))};
    record.half(mapped.task.pid).half(mapped.task.tid).word(mapped.address).word(mapped.bytes).word(mapped.offset);
    return record;
}

/// The field is as long as what put_file() writes: one byte with the id's size, three zero bytes, 20 bytes for the id.
void put_build_id(Record& record, std::span<const std::byte> id) {
    std::array<std::byte, 4 + kBuildIdBytes> field{};
    const std::size_t bytes = std::min(id.size(), kBuildIdBytes);
    field[0] = static_cast<std::byte>(bytes);
    std::ranges::copy(id.first(bytes), field.begin() + 4);
    record.bytes(field);
}

void put_file(Record& record, const TaskMapping& mapped) {
    record.half(mapped.device_major).half(mapped.device_minor).word(mapped.inode).word(mapped.generation);
}

}  // namespace

bool TaskMapping::executable() const {
    return (prot & PROT_EXEC) != 0;
}

/// The kernel's buffer for the path has PATH_MAX bytes, 8 of which are kept for padding.
std::string_view name_in_record(std::string_view path) {
    return path.size() + 1 > PATH_MAX - sizeof(std::uint64_t) ? "//toolong" : path;
}

Record mmap_record(const TaskMapping& mapped) {
    Record record = start(record_type("PERF_RECORD_MMAP"), 0, mapped);
    return record.name(name_in_record(mapped.name));
}

// A record has either the build id or device, inode and generation; a bit of misc says which. As in the kernel, the
// record of a file without a build id has the inode.
Record mmap2_record(const TaskMapping& mapped, bool wants_build_id) {
    const bool with_id = wants_build_id && !mapped.build_id.empty();
    Record record = start(record_type("PERF_RECORD_MMAP2"), with_id ? kMmapBuildId : 0, mapped);
    if (with_id)
        put_build_id(record, mapped.build_id);
    else
        put_file(record, mapped);
    return record.half(mapped.prot).half(mapped.flags).name(name_in_record(mapped.name));
}

}  // namespace anyperf::subsystem
