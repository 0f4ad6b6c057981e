// byte_order.h: turns a kernel record of the other byte order into one of this machine's, in place. So decoders see one
// byte order only. perf's own records (types from 64) are not turned: they are read with a foreign Cursor.
//
// A recording of a big-endian s390x or PowerPC machine is read on x86 this way. The fields of a record have different
// widths, so it can't be reversed as an array of words: two u32 (pid, tid) would change places. The shapes of the
// records are a table in byte_order.cpp; those of samples are abi::kSampleBits.
#pragma once

#include <cstddef>
#include <span>

#include "anyperf/attr.h"

namespace anyperf::perfdata {

/// Turns the header of a record.
void turn_header(std::span<std::byte> record);

/// Turns the body of a record that has a turned header, and its sample id. `attr` is that of the record's event. Fields
/// that pass the record's end are left as they are: such a record cannot be decoded in any order.
void turn_body(std::span<std::byte> record, const abi::Attr& attr);

}  // namespace anyperf::perfdata
