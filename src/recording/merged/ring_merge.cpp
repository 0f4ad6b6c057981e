#include "recording/merged/ring_merge.h"

#include <algorithm>

namespace anyperf::recording {

using perfdata::RecordType;

namespace {

// After that many bytes the ring gets its room back: a full ring loses records.
constexpr std::uint64_t kReleased = 64 << 10;

bool is_side_band(RecordType type) {
    return type == RecordType::mmap || type == RecordType::mmap2 || type == RecordType::fork ||
           type == RecordType::exit;
}

/// Positions are counts that may wrap, so only differences are compared.
bool is_before(std::uint64_t position, std::uint64_t other) {
    return static_cast<std::int64_t>(other - position) > 0;
}

constexpr auto is_younger = [](const auto& left, const auto& right) { return left.now.time > right.now.time; };

}  // namespace

void RingMerge::begin(std::span<Ring> rings) {
    seen_.resize(rings.size());
    places_.clear();
    has_current_ = false;
    for (Ring& ring : rings) {
        const std::uint64_t end = ring.end();
        places_.push_back({.ring = &ring, .at = ring.begin(), .end = end, .now = {}});
    }
    side_band_.erase(side_band_.begin(), side_band_.begin() + static_cast<std::ptrdiff_t>(next_side_band_));
    next_side_band_ = 0;
    for (std::size_t i = 0; i < rings.size(); ++i) find_side_band(rings[i], seen_[i]);
    std::ranges::stable_sort(side_band_, {}, &SideBand::time);
    std::erase_if(places_, [this](Place& place) { return !load(place); });
    std::ranges::make_heap(places_, is_younger);
}

// Of other records only the header is read, so each sample with a copied stack costs one cache line.
void RingMerge::find_side_band(Ring& ring, std::uint64_t& seen) {
    const std::uint64_t end = ring.end();
    std::uint64_t at = is_before(ring.begin(), seen) ? seen : ring.begin();
    while (is_before(at, end)) {
        const auto header = ring.header_at(at, end);
        if (!header) break;
        if (is_side_band(header->type)) {
            const Bytes record = ring.record_at(at, end);
            side_band_.push_back({time_of(record), {record.begin(), record.end()}});
        }
        at += header->size;
    }
    seen = end;
}

std::uint64_t RingMerge::time_of(Bytes record) const {
    const auto header = perfdata::load<perfdata::RecordHeader>(record.data());
    return header.type == RecordType::sample ? layout_.sample_time(record) : layout_.trailer_time(record);
}

/// Loads the record at `place.at`. False: the ring has no more records for this round. If the ring was damaged, all
/// that it had is dropped.
bool RingMerge::load(Place& place) const {
    if (is_before(place.at, place.ring->begin())) place.at = place.ring->begin();
    if (!is_before(place.at, place.end)) return false;
    place.now.record = place.ring->record_at(place.at, place.end);
    if (place.now.record.empty()) return false;
    place.now.time = time_of(place.now.record);
    return true;
}

/// Replaces the current record, the oldest of all rings, by the next one of its ring.
void RingMerge::advance() {
    std::ranges::pop_heap(places_, is_younger);
    Place& place = places_.back();
    place.at += place.now.record.size();
    const bool more = is_before(place.at, place.end);
    if (!more || place.at - place.ring->begin() >= kReleased) place.ring->release(place.at);
    if (more && load(place))
        std::ranges::push_heap(places_, is_younger);
    else
        places_.pop_back();
}

std::optional<RingMerge::Timed> RingMerge::next() {
    if (has_current_) advance();
    has_current_ = !places_.empty();
    return has_current_ ? std::optional{places_.front().now} : std::nullopt;
}

std::optional<Bytes> RingMerge::next_side_band(std::uint64_t time) {
    if (next_side_band_ == side_band_.size() || side_band_[next_side_band_].time > time) return {};
    return side_band_[next_side_band_++].record;
}

}  // namespace anyperf::recording
