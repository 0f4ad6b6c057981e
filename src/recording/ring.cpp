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

Ring::Ring(std::span<std::byte> memory, Writer writer)
    : header_(memory.data()),
      data_(memory.subspan(kHeaderPage)),
      copy_(writer == Writer::programs ? data_.size() : 0),
      records_(copy_.empty() ? Bytes{data_} : Bytes{copy_}) {}

// More unread bytes than the ring holds are impossible: a program of the run has overwritten data_head. Unsigned
// subtraction gives the right difference also after a count has passed 2^64.
Ring::Extent Ring::unread() {
    const std::uint64_t head = __atomic_load_n(field(header_, offsetof(abi::MmapPage, data_head)), __ATOMIC_ACQUIRE);
    if (head - tail_ > data_.size()) drop_all(head);
    if (!copy_.empty()) copy_new(head);
    return {tail_, head};
}

// Each byte is copied once, so a record is used as it was when it was checked.
void Ring::copy_new(std::uint64_t end) {
    const std::uint64_t begin = copied_ - tail_ <= end - tail_ ? copied_ : tail_;
    const std::size_t start = begin % data_.size();
    const std::size_t size = end - begin;
    const std::size_t before = std::min(size, data_.size() - start);
    std::memcpy(copy_.data() + start, data_.data() + start, before);
    std::memcpy(copy_.data(), data_.data(), size - before);
    copied_ = end;
}

std::size_t Ring::record_size(std::uint64_t at, std::uint64_t end) const {
    if (end - at < perfdata::kRecordHeader || at % perfdata::kRecordHeader != 0) return 0;
    // A header is aligned to its size, so it never wraps.
    const auto header = perfdata::load<perfdata::RecordHeader>(records_.data() + at % records_.size());
    const bool possible =
        header.size >= perfdata::kRecordHeader && header.size % perfdata::kRecordHeader == 0 && header.size <= end - at;
    return possible ? header.size : 0;
}

Bytes Ring::in_one_piece(std::uint64_t at, std::size_t size) {
    const std::size_t start = at % data_.size();
    if (start + size <= data_.size()) return records_.subspan(start, size);
    const std::size_t before = data_.size() - start;
    joined_.resize(size);
    std::memcpy(joined_.data(), records_.data() + start, before);
    std::memcpy(joined_.data() + before, records_.data(), size - before);
    return joined_;
}

Ring::Records Ring::between(std::uint64_t begin, std::uint64_t end) const {
    const std::size_t start = begin % data_.size();
    const std::size_t size = end - begin;
    const std::size_t before = std::min(size, data_.size() - start);
    return {records_.subspan(start, before), records_.first(size - before), end};
}

std::optional<perfdata::RecordHeader> Ring::header_at(std::uint64_t at, std::uint64_t end) {
    if (record_size(at, end) != 0)
        return perfdata::load<perfdata::RecordHeader>(records_.data() + at % records_.size());
    drop_all(end);
    return {};
}

Bytes Ring::record_at(std::uint64_t at, std::uint64_t end) {
    const auto header = header_at(at, end);
    return header ? in_one_piece(at, header->size) : Bytes{};
}

void Ring::release(std::uint64_t end) {
    // drop_all() may have moved the tail beyond `end`. It never moves back.
    if (end - tail_ <= data_.size()) tail_ = end;
    __atomic_store_n(field(header_, offsetof(abi::MmapPage, data_tail)), tail_, __ATOMIC_RELEASE);
}

void Ring::drop_all(std::uint64_t end) {
    ++damages_;
    tail_ = end;
    __atomic_store_n(field(header_, offsetof(abi::MmapPage, data_tail)), tail_, __ATOMIC_RELEASE);
}

}  // namespace anyperf::recording
