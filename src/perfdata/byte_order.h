// byte_order.h: turns a kernel record of the other byte order into one of this machine's, in place. What follows it
// then need not know. perf's own records (types from 64) are read with a Cursor that swaps.
#pragma once

#include <cstddef>
#include <span>

#include "anyperf/attr.h"

namespace anyperf::perfdata {

/// Turns the header of a record.
void turn_header(std::span<std::byte> record);

/// Turns the body of a record that has a turned header, and its sample id. `attr` is that of the record's event. Fields
/// that pass the record's end are left as they are: the record then does not decode either.
void turn_body(std::span<std::byte> record, const abi::Attr& attr);

}  // namespace anyperf::perfdata
