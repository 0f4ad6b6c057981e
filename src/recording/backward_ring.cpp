#include "recording/backward_ring.h"

#include <algorithm>
#include <ranges>

#include "abi/mmap_page.h"

namespace anyperf::recording {

namespace {

constexpr std::size_t kHeaderPageBytes = 4096;

}  // namespace

BackwardRing::BackwardRing(std::span<const std::byte> memory)
    : header_(memory.first(kHeaderPageBytes)), data_(memory.subspan(kHeaderPageBytes)) {}

std::vector<std::byte> BackwardRing::take() {
    const auto* const field =
        reinterpret_cast<const std::uint64_t*>(header_.data() + offsetof(abi::MmapPage, data_head));
    const std::uint64_t head = __atomic_load_n(field, __ATOMIC_ACQUIRE);
    // A copy of the ring that begins with the newest record. Records are checked and used in the copy only: a program
    // of a run could change them in between.
    const std::size_t start = head % data_.size();
    std::vector<std::byte> copy;
    copy.reserve(data_.size());
    copy.insert(copy.end(), data_.begin() + static_cast<std::ptrdiff_t>(start), data_.end());
    copy.insert(copy.end(), data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(start));
    const std::size_t written = std::min<std::uint64_t>(taken_ - head, copy.size());  // head decreases
    taken_ = head;
    std::vector<Bytes> records;
    for (std::size_t at = 0; written - at >= perfdata::kRecordHeader;) {
        const std::size_t size = perfdata::load<perfdata::RecordHeader>(copy.data() + at).size;
        if (size < perfdata::kRecordHeader || size % perfdata::kRecordHeader != 0 || size > written - at) break;
        records.push_back(Bytes{copy}.subspan(at, size));
        at += size;
    }
    std::vector<std::byte> oldest_first;
    oldest_first.reserve(written);
    for (const Bytes record : records | std::views::reverse)
        oldest_first.insert(oldest_first.end(), record.begin(), record.end());
    return oldest_first;
}

}  // namespace anyperf::recording
