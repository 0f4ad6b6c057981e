// read_attr.h: a perf_event_attr of a file, of any published size and either byte order.
#pragma once

#include "anyperf/attr.h"
#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// Reads the fields that this anyperf knows; a field that `bytes` lacks is 0. attr.size keeps the value that the file
/// has. `foreign`: the file is of the other byte order.
abi::Attr read_attr(Bytes bytes, bool foreign);

}  // namespace anyperf::perfdata
