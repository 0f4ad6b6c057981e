#include "engine/x86_64/accesses/access_groups.h"

#include <algorithm>

namespace anyperf::engine {

namespace {

using Kind = RecordedAccess::Kind;

/// Whether the addresses differ by the displacements only.
bool have_one_origin(const RecordedAccess& a, const RecordedAccess& b) {
    const auto is_plain = [](const RecordedAccess& one) { return one.address32 == 0 && one.byte_index == 0; };
    return is_plain(a) && is_plain(b) && a.base == b.base && a.index == b.index && a.scale == b.scale &&
           a.in_fs == b.in_fs;
}

/// Whether the group may have these bounds. An address without a register is known: it has to be one line.
bool fits(const RecordedAccess& origin, std::int64_t lowest, std::int64_t end, unsigned line_bytes) {
    if (end - lowest > static_cast<std::int64_t>(line_bytes)) return false;
    const bool known = origin.base == 0 && origin.index == 0 && origin.in_fs == 0;
    return !known ||
           static_cast<std::uint64_t>(lowest) / line_bytes == static_cast<std::uint64_t>(end - 1) / line_bytes;
}

}  // namespace

AccessGroups::AccessGroups(const RecordedAccess* accesses, unsigned count, unsigned line_bytes, Of of) {
    unsigned open = 0;  // groups before this one have ended
    for (unsigned i = 0; i < count; ++i) {
        if (has_known_address(accesses[i])) {
            add(accesses, i, line_bytes, open);
            if (of == Of::neighbours) open = owners_[i] - 1U;
        } else if (accesses[i].kind != Kind::fetch || of == Of::neighbours) {
            open = group_count_;
        }
    }
    find_alignments(accesses, count);
}

/// Adds the access to a group from `open` on, or makes one.
void AccessGroups::add(const RecordedAccess* accesses, unsigned index, unsigned line_bytes, unsigned open) {
    const RecordedAccess& access = accesses[index];
    const std::int64_t lowest = access.displacement;
    const std::int64_t end = lowest + access.bytes;
    unsigned number = open;
    for (; number < group_count_; ++number) {
        const AccessGroup& group = groups_[number];
        const RecordedAccess& origin = accesses[group.first];
        if (have_one_origin(origin, access) &&
            fits(origin, std::min(group.lowest, lowest), std::max(group.end, end), line_bytes))
            break;
    }
    AccessGroup& group = groups_[number];
    if (number == group_count_) {
        ++group_count_;
        group = {.first = static_cast<std::uint8_t>(index), .lowest = lowest, .end = end};
        group.one_line = fits(access, lowest, end, line_bytes);
        starts_[index] = static_cast<std::uint8_t>(group_count_);
    }
    group.last = static_cast<std::uint8_t>(index);
    ++group.count;
    group.modifies = group.modifies || access.kind != Kind::load;
    group.lowest = std::min(group.lowest, lowest);
    group.end = std::max(group.end, end);
    owners_[index] = static_cast<std::uint8_t>(number + 1);
}

/// An access of a power of two of bytes at a multiple of them does not cross the end of a line.
void AccessGroups::find_alignments(const RecordedAccess* accesses, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (owners_[i] == 0) continue;
        AccessGroup& group = groups_[owners_[i] - 1U];
        group.alignment = std::max(group.alignment, unsigned{accesses[i].bytes});
    }
    for (unsigned i = 0; i < count; ++i) {
        if (owners_[i] == 0) continue;
        AccessGroup& group = groups_[owners_[i] - 1U];
        const unsigned bytes = accesses[i].bytes;
        const bool power = (bytes & (bytes - 1)) == 0;
        if (!power || static_cast<std::uint64_t>(accesses[i].displacement - group.lowest) % bytes != 0)
            group.alignment = 0;
    }
}

}  // namespace anyperf::engine
