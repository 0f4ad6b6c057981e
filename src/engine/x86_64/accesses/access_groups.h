// access_groups.h: which accesses of a recorded segment one look-up serves.
//
// Most accesses repeat: they touch the line that was touched last in its set, and change nothing
// (models/caches/recent.h). If all accesses of some stretch of code repeat, the order in which they are looked up does
// not matter, because none changes what the others find. So accesses whose addresses differ by a constant of less than
// a line are one group: pushes and pops, members of a struct, spills. The group is looked up at its first access. If
// its bytes lie in one line, and this line and its page are the most recent ones, all its accesses repeat.
//
// A look-up that makes an older line the most recent one of its set changes what others find. Then a group consists of
// neighbours: no other access, and no fetch of another line, lies between its accesses.
#pragma once

#include <array>
#include <cstdint>

#include "engine/cache/recorded_segment.h"

namespace anyperf::engine {

struct AccessGroup {
    std::uint8_t first = 0;  ///< indices of its first and last access
    std::uint8_t last = 0;
    std::uint8_t count = 0;
    bool modifies = false;  ///< some access stores
    bool one_line = false;  ///< it has at most the bytes of a line
    unsigned alignment =
        0;  ///< if its lowest address is a multiple of it, no access crosses the end of a line; 0: none
    std::int64_t lowest = 0;  ///< displacement of its lowest byte
    std::int64_t end = 0;     ///< of the byte after its highest one

    unsigned bytes() const { return static_cast<unsigned>(end - lowest); }
};

class AccessGroups {
  public:
    static constexpr unsigned kMostAccesses = 64;
    enum class Of : std::uint8_t { repeated, neighbours };

    /// Precondition: at most kMostAccesses accesses.
    AccessGroups(const RecordedAccess* accesses, unsigned count, unsigned line_bytes, Of of);

    /// The group whose first access has this index; null if no group begins with it.
    const AccessGroup* beginning_at(unsigned index) const {
        return starts_[index] != 0 ? &groups_[starts_[index] - 1U] : nullptr;
    }

  private:
    void add(const RecordedAccess* accesses, unsigned index, unsigned line_bytes, unsigned open);
    void find_alignments(const RecordedAccess* accesses, unsigned count);

    std::array<AccessGroup, kMostAccesses> groups_{};
    std::array<std::uint8_t, kMostAccesses> starts_{};  ///< number of the group that begins there, from 1 on
    std::array<std::uint8_t, kMostAccesses> owners_{};  ///< number of the access's group, from 1 on
    unsigned group_count_ = 0;
};

/// Whether the address of the access follows from its record and the base of fs: not a string's, not one with the base
/// of gs.
constexpr bool has_known_address(const RecordedAccess& access) {
    using Kind = RecordedAccess::Kind;
    const bool operand = access.kind == Kind::load || access.kind == Kind::store || access.kind == Kind::modify;
    return operand && access.in_gs == 0;
}
/// Whether the address is constant.
constexpr bool is_constant(const RecordedAccess& access) {
    return access.base == 0 && access.index == 0 && access.address32 == 0 && access.in_fs == 0;
}

}  // namespace anyperf::engine
