// attr_copy.h: copies a perf_event_attr of any version of the structure from a client's memory (perf_event_open(2),
// "size"; perf_copy_attr() in kernel/events/core.c of Linux 6.18).
#pragma once

#include <cstddef>
#include <span>

#include "anyperf/attr.h"
#include "subsystem/answer.h"

namespace anyperf::subsystem {

/// The size of the structure in Linux 6.18, which is emulated. E2BIG reports it.
inline constexpr std::uint32_t kAttrBytes = 136;
/// The largest attr.size, one page.
inline constexpr std::uint32_t kLongestAttr = 4096;

/// `readable`: the bytes that can be read at the client's pointer; bytes after kLongestAttr are ignored. Fields beyond
/// the first attr.size bytes become 0; an attr.size of 0 means 64. EFAULT if the attr can't be read up to attr.size;
/// E2BIG, with the size to report, if attr.size is out of range or an unknown field is set.
Answer<abi::Attr> copy_attr(std::span<const std::byte> readable);

}  // namespace anyperf::subsystem
