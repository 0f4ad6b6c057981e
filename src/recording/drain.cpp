// drain.cpp: one round over the rings. Two things compete: a ring that is not emptied in time loses records, and a file
// that cannot be written must not stop the reading. So rings are released piece by piece, and an error of the writer is
// kept until the round is over.
#include "recording/drain.h"

#include <algorithm>

#include "perfdata/side_band.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {

using perfdata::RecordType;

namespace {

// After each piece the ring gets its room back: a full ring loses records.
constexpr std::size_t kPiece = 256 << 10;
// A ring that is filled faster than it is drained must not keep the others waiting.
constexpr int kMostPieces = 64;

}  // namespace

Drain::Drain(perfdata::RecordOutput& writer, const abi::Attr& layout_of) : writer_(writer), layout_(layout_of) {}

// An error of the writer does not end the round: rings that stay full would lose records of tasks that still run, and
// the counts would miss them.
Result<void> Drain::round(std::span<Ring> rings) {
    Result<void> result;
    const bool any = empty_once(rings, result);
    return any && result ? end_round() : result;
}

// The events that track go on, so a ring may never be found empty while programs run. And a program may move the end of
// a ring back, which is then empty.
Result<void> Drain::rest(std::span<Ring> rings) {
    std::vector<std::uint64_t> ends;
    ends.reserve(rings.size());
    for (Ring& ring : rings) ends.push_back(ring.end());
    const auto has_old = [&](bool found) {
        for (std::size_t i = 0; i < rings.size(); ++i)
            if (found && static_cast<std::int64_t>(ends[i] - rings[i].begin()) > 0) return true;
        return false;
    };
    Result<void> result;
    bool found = true, any = false;
    do {
        found = empty_once(rings, result);
        any = any || found;
    } while (has_old(found));
    return any && result ? end_round() : result;
}

Result<void> Drain::end_round() {
    if (!rounds_) return {};
    perfdata::RecordWriter mark{RecordType::finished_round, 0};
    auto result = writer_.write_plain(mark.finish());
    // The reader of a pipe may show what comes while it comes (`anyperf top`).
    return result && writer_.is_pipe() ? writer_.flush() : result;
}

bool Drain::empty_once(std::span<Ring> rings, Result<void>& result) {
    bool any = false;
    if (merge_) {
        const auto drained = drain_merged(rings);
        any = drained.value_or(false);
        if (!drained) result = std::unexpected(drained.error());
    }
    for (Ring& ring : merge_ ? std::span<Ring>{} : rings) {
        const auto drained = drain(ring);
        if (drained)
            any = any || *drained;
        else
            result = std::unexpected(drained.error());
    }
    return any;
}

Result<bool> Drain::drain(Ring& ring) {
    Result<bool> result = false;
    for (int piece = 0; piece < kMostPieces; ++piece) {
        const auto records = ring.next(kPiece, [this](Bytes record) { look_at(record); });
        if (records.empty()) break;
        const auto written = writer_.write(records.first, records.second);
        ring.release(records.end);
        if (!written)
            result = std::unexpected(written.error());
        else if (result)
            result = true;
    }
    return result;
}

void Drain::unwind_with(UnwoundSamples& unwound) {
    unwound_ = &unwound;
    merge_.emplace(layout_);
}

void Drain::join_switches_with(OffCpuTimes& off_cpu) {
    off_cpu_ = &off_cpu;
    merge_.emplace(layout_);
}

// As in round(), an error of the writer does not keep the rings full.
Result<bool> Drain::drain_merged(std::span<Ring> rings) {
    Result<bool> result = false;
    const auto note = [&](const Result<void>& written) {
        if (!written) result = std::unexpected(written.error());
    };
    merge_->begin(rings);
    while (const auto next = merge_->next()) {
        while (const auto record = merge_->next_side_band(next->time))
            if (unwound_) unwound_->follow(*record);
        collect(next->record);
        note(write_collected(false));
        if (result) result = true;
    }
    if (unwound_) unwound_->end_round();
    note(write_collected(true));
    return result;
}

void Drain::collect(Bytes record) {
    const auto add = [this](Bytes bytes) {
        if (bytes.empty()) return;
        look_at(bytes);
        collected_.insert(collected_.end(), bytes.begin(), bytes.end());
    };
    if (perfdata::load<perfdata::RecordHeader>(record.data()).type == RecordType::sample) {
        const Bytes sample = unwound_ ? unwound_->unwind(record) : record;
        if (sample.empty()) ++lost_;
        if (!sample.empty() && off_cpu_ && off_cpu_->take(sample)) return;
        return add(sample);
    }
    if (!off_cpu_) return add(record);
    if (off_cpu_->wants(record)) add(record);
    add(off_cpu_->follow(record));
}

Result<void> Drain::write_collected(bool all) {
    if (collected_.empty() || (!all && collected_.size() < kPiece)) return {};
    auto written = writer_.write(collected_);
    collected_.clear();
    return written;
}

void Drain::add_counts(const Drain& other) {
    samples_ += other.samples_;
    lost_ += other.lost_;
    if (first_time_ == 0 || (other.first_time_ != 0 && other.first_time_ < first_time_))
        first_time_ = other.first_time_;
    last_time_ = std::max(last_time_, other.last_time_);
    files_.add(other.files_);
}

Result<void> Drain::put(Bytes record) {
    look_at(record);
    if (unwound_) unwound_->follow(record);
    return writer_.write_plain(record);
}

Result<void> Drain::put_again(Bytes record) {
    return writer_.write_plain(record);
}

Result<void> Drain::put_all(Bytes records) {
    for (std::size_t at = 0; at < records.size();) {
        const auto size = perfdata::load<perfdata::RecordHeader>(records.data() + at).size;
        look_at(records.subspan(at, size));
        at += size;
    }
    return writer_.write(records);
}

void Drain::look_at(Bytes record) {
    const auto header = perfdata::load<perfdata::RecordHeader>(record.data());
    switch (header.type) {
        case RecordType::sample: {
            ++samples_;
            const std::uint64_t time = layout_.sample_time(record);
            if (first_time_ == 0 || time < first_time_) first_time_ = time;
            last_time_ = std::max(last_time_, time);
            break;
        }
        case RecordType::lost: {
            perfdata::Cursor body{record.subspan(perfdata::kRecordHeader)};
            body.u64();  // id
            lost_ += body.u64();
            break;
        }
        case RecordType::mmap:
        case RecordType::mmap2: files_.add(record); break;
        case RecordType::fork:
            if (const auto task = perfdata::read_task(record); task && notes_processes_) processes_.insert(task->pid);
            break;
        default: break;
    }
}

}  // namespace anyperf::recording
