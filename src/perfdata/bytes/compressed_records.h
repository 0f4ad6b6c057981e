// compressed_records.h: the contents of COMPRESSED and COMPRESSED2 records, which are one zstd stream of records.
//
// The stream may break anywhere in a record, also in its header. What is left of one waits for the next call.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/bytes/decompressor.h"
#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

class CompressedRecords {
  public:
    /// Gets records, the last of which may be cut, and returns how many bytes it has used. Nothing: it wants no more.
    using Walk = std::function<std::optional<std::size_t>(Bytes)>;

    /// Unpacks a record in pieces. `foreign`: the file has the other byte order. Error: the record is damaged.
    Result<void> unpack(Bytes record, RecordType type, bool foreign, const Walk& walk);

  private:
    Decompressor decompressor_;
    std::vector<std::byte> unpacked_;  // from a record's begin on
    bool unpacking_ = false;
};

}  // namespace anyperf::perfdata
