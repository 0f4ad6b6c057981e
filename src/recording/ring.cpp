#include "recording/ring.h"

#include <algorithm>
#include <cstring>

#include "abi/mmap_page.h"

namespace anyperf::recording {

namespace {

constexpr std::size_t kHeaderPage = 4096;

std::uint64_t* field(std::byte* header, std::size_t offset) {
    return reinterpret_cast<std::uint64_t*>(header + offset);
}

}  // namespace

Ring::Ring(std::span<std::byte> memory) : header_(memory.data()), data_(memory.subspan(kHeaderPage)) {}

// A difference of more than the ring holds is impossible: a program of the run has overwritten data_head. The
// difference of two counts is right also after they have wrapped.
Ring::Extent Ring::unread() {
    const std::uint64_t head = __atomic_load_n(field(header_, offsetof(abi::MmapPage, data_head)), __ATOMIC_ACQUIRE);
    if (head - tail_ > data_.size()) drop_all(head);
    return {tail_, head};
}

// The size is read once: a program of the run may change it meanwhile, so what was checked must be what is used.
std::size_t Ring::record_size(std::uint64_t at, std::uint64_t end) const {
    if (end - at < perfdata::kRecordHeader || at % perfdata::kRecordHeader != 0) return 0;
    // A header is aligned to its size, so it never wraps.
    const auto header = perfdata::load<perfdata::RecordHeader>(data_.data() + at % data_.size());
    const bool possible =
        header.size >= perfdata::kRecordHeader && header.size % perfdata::kRecordHeader == 0 && header.size <= end - at;
    return possible ? header.size : 0;
}

Bytes Ring::in_one_piece(std::uint64_t at, std::size_t size) {
    const std::size_t start = at % data_.size();
    if (start + size <= data_.size()) return Bytes{data_}.subspan(start, size);
    const std::size_t before = data_.size() - start;
    joined_.resize(size);
    std::memcpy(joined_.data(), data_.data() + start, before);
    std::memcpy(joined_.data() + before, data_.data(), size - before);
    return joined_;
}

Ring::Records Ring::between(std::uint64_t begin, std::uint64_t end) const {
    const std::size_t start = begin % data_.size();
    const std::size_t size = end - begin;
    const std::size_t before = std::min(size, data_.size() - start);
    return {Bytes{data_}.subspan(start, before), Bytes{data_}.first(size - before), end};
}

void Ring::release(std::uint64_t end) {
    // A ring that was damaged has been released further already.
    if (end - tail_ <= data_.size()) tail_ = end;
    __atomic_store_n(field(header_, offsetof(abi::MmapPage, data_tail)), tail_, __ATOMIC_RELEASE);
}

void Ring::drop_all(std::uint64_t end) {
    ++damages_;
    tail_ = end;
    __atomic_store_n(field(header_, offsetof(abi::MmapPage, data_tail)), tail_, __ATOMIC_RELEASE);
}

}  // namespace anyperf::recording
