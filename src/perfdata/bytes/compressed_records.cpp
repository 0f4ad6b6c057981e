#include "perfdata/bytes/compressed_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "try.h"

namespace anyperf::perfdata {

namespace {

Result<Bytes> packed_bytes(Bytes record, RecordType type, bool foreign) {
    constexpr std::size_t kHeader2 = kRecordHeader + sizeof(std::uint64_t);
    if (type == RecordType::compressed) return record.subspan(kRecordHeader);
    const Bytes packed = record.subspan(std::min(kHeader2, record.size()));
    Cursor size{record.subspan(kRecordHeader), foreign};
    const std::uint64_t data = size.u64();
    // perf 6.16 and some after it wrote the size of a whole flush here, also where it took several records.
    if (data > packed.size())
        return std::unexpected(Error{
            {}, fmt::format("COMPRESSED2 claims {} bytes and has {} (a fault of perf 6.16)", data, packed.size()), {}});
    return packed.first(data);
}

}  // namespace

// A COMPRESSED record inside a compressed record would unpack into the bytes that are being walked over. perf writes
// none, so it is refused as damage.
Result<void> CompressedRecords::unpack(Bytes record, RecordType type, bool foreign, const Walk& walk) {
    if (unpacking_) return std::unexpected(Error{{}, "a compressed record contains another one", {}});
    decompressor_.feed(TRY(packed_bytes(record, type, foreign)));
    while (TRY(decompressor_.unpack(unpacked_))) {
        unpacking_ = true;
        const auto used = walk(unpacked_);
        unpacking_ = false;
        if (!used) break;
        unpacked_.erase(unpacked_.begin(), unpacked_.begin() + static_cast<std::ptrdiff_t>(*used));
    }
    return {};
}

}  // namespace anyperf::perfdata
