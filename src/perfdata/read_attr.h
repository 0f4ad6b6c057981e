// read_attr.h: a perf_event_attr of a file, of any published size and either byte order.
#pragma once

#include "anyperf/attr.h"
#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// Reads as many of the `bytes` as this anyperf knows; what a shorter attr lacks is 0. attr.size is that of the file.
abi::Attr read_attr(Bytes bytes, bool foreign);

}  // namespace anyperf::perfdata
