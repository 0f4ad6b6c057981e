// byte_order.h: swaps the bytes of each number in a kernel record of the other byte order, in place. So decoders see
// one byte order only. perf's own records (types from 64) stay as they are: they are read with a foreign Cursor.
//
// A recording of a big-endian s390x or PowerPC machine is read on x86 this way. The fields of a record have different
// widths, so it can't be reversed as an array of words: two u32 (pid, tid) would change places. The shapes of the
// records are a table in byte_order.cpp; those of samples are abi::kSampleBits.
#pragma once

#include <cstddef>
#include <span>

#include "anyperf/attr.h"

namespace anyperf::perfdata {

/// Swaps the header of a record.
void swap_header(std::span<std::byte> record);

/// Swaps the body of a record, and its sample id. Precondition: swap_header() was called. `attr` is that of the
/// record's event. Fields that pass the record's end are left as they are: such a record cannot be decoded in any
/// order.
void swap_body(std::span<std::byte> record, const abi::Attr& attr);

}  // namespace anyperf::perfdata
