// attr_copy.h: perf_event_attr from a client's memory, as every version of the structure has been passed
// (perf_event_open(2), "size"; kernel/events/core.c, perf_copy_attr, Linux 6.18).
#pragma once

#include <cstddef>
#include <span>

#include "anyperf/attr.h"
#include "subsystem/answer.h"

namespace anyperf::subsystem {

/// The structure's size in the kernel that is emulated, Linux 6.18: what E2BIG writes back.
inline constexpr std::uint32_t kAttrBytes = 136;
/// A page: no attr is larger.
inline constexpr std::uint32_t kLongestAttr = 4096;

/// `readable` is what can be read at the client's pointer; more than kLongestAttr is not looked at. Fields beyond the
/// given size are 0, and a size of 0 is taken as 64. EFAULT, or E2BIG with the size to write back.
Answer<abi::Attr> copy_attr(std::span<const std::byte> readable);

}  // namespace anyperf::subsystem
