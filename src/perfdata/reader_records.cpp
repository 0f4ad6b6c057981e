// reader_records.cpp: what is done with each record. reader_state.h describes the whole.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "perfdata/byte_order.h"
#include "perfdata/read_attr.h"
#include "perfdata/reader_state.h"

namespace anyperf::perfdata {

// A record of an unknown type does not end the reading, because its size is known. One of the kernel goes to the
// consumer like any other, one of perf is counted. perf 6.1 gives up at the first one.
void Reader::State::take(const Piece& record, RecordHeader head) {
    if (head.type < RecordType::first_user) return take_kernel_record(record, head);
    if (is_simpleperf(head.type) && head.type <= RecordType::last_simpleperf)
        return take_simpleperf_record(record.bytes, head.type);
    if (head.type > RecordType::last_user) {
        ++summary.unknown_types;
        return;
    }
    const bool ends_round = head.type == RecordType::finished_round;
    if (!ends_round) take_user_record(record, head);
    if (head.type == RecordType::compressed || head.type == RecordType::compressed2) return;
    tell_place(record.offset, record.bytes);
    consumer->user_record(head.type, record.bytes, header.foreign);
    if (ends_round) take_user_record(record, head);
}

// A sample needs its own event's layout. All other records end with a sample id in the layout of the first event: perf
// requires the events of a recording to agree in it (evlist__valid_sample_id_all() of its sources). So a record with an
// unknown id can be read, and a sample with one can't.
void Reader::State::take_kernel_record(const Piece& record, RecordHeader head) {
    if (events.empty()) {
        ++summary.unknown_ids;
        return;
    }
    const bool is_sample = head.type == RecordType::sample;
    // The event is found in the record as it is in the file: swapping needs the event's attr, which says where pairs of
    // 32-bit numbers and bytes are.
    const auto event = events.find(record.bytes, is_sample, header.foreign);
    if (is_sample && !event) {
        ++summary.unknown_ids;
        return;
    }
    const std::uint32_t which = event.value_or(0);
    if (!header.foreign) return take_event_record(record, is_sample, which);
    scratch.assign(record.bytes.begin(), record.bytes.end());
    swap_header(scratch);
    swap_body(scratch, events.all()[which].attr);
    take_event_record({scratch, record.offset, Memory::passing, record.is_unpacked}, is_sample, which);
}

void Reader::State::take_event_record(const Piece& record, bool is_sample, std::uint32_t event) {
    const SampleLayout& layout = events.layout(is_sample ? event : 0);
    if (is_sample && few_fields && layout.has_few_fields()) return queue_few_fields(record, layout, event);
    queue(is_sample ? layout.sample_time(record.bytes) : layout.trailer_time(record.bytes), record, event);
}

// Records of a round wait for those of the next one. A chain of 20 words is three times as long as what comes before
// it, and a stack of 8 KiB a hundred times: without them the file is read into one chunk that stays in the cache.
void Reader::State::queue_few_fields(const Piece& record, const SampleLayout& layout, std::uint32_t event) {
    if (!layout.is_whole(record.bytes, sample)) {
        ++summary.damaged_samples;
        return;
    }
    const Bytes few = layout.cut(record.bytes, cut);
    queue(layout.sample_time(few), {few, record.offset, Memory::passing}, event);
}

// What waits is the record's offset and the record.
void Reader::State::add_with_place(std::uint64_t time, const Piece& record, std::uint32_t event) {
    placed.resize(sizeof record.offset);
    std::memcpy(placed.data(), &record.offset, sizeof record.offset);
    placed.insert(placed.end(), record.bytes.begin(), record.bytes.end());
    waiting.add_copy(time, placed, event);
}

void Reader::State::queue(std::uint64_t time, const Piece& record, std::uint32_t event) {
    // Records without a time do not wait, such as those that perf makes itself, whose time is 0.
    if (time == 0 || time == ~std::uint64_t{0}) {
        tell_place(record.offset, record.bytes);
        return deliver(record.bytes, event);
    }
    if (ring) ring->newest = std::max(ring->newest, time);
    if (places)
        add_with_place(time, record, event);
    else if (record.memory == Memory::mapped)
        waiting.add_stable(time, record.bytes, event);
    else if (record.memory == Memory::chunk && !few_fields)
        waiting.add_read(time, record.bytes, event);
    else
        waiting.add_copy(time, record.bytes, event);
    if (waiting.is_too_large()) {
        waiting.shrink(delivering());
        release();
    }
}

void Reader::State::end_round() {
    if (ring) return;  // one file says nothing of the others
    waiting.end_round(delivering());
    release();
}

void Reader::State::take_user_record(const Piece& record, RecordHeader head) {
    switch (head.type) {
        case RecordType::header_attr: return take_header_attr(record.bytes);
        case RecordType::header_feature: return take_feature(record.bytes);
        case RecordType::event_update: return take_event_update(record.bytes);
        case RecordType::header_build_id:
            facts.build_ids.push_back(read_build_id(record.bytes.subspan(kRecordHeader), head.misc, header.foreign));
            return;
        case RecordType::finished_round: return end_round();
        case RecordType::compressed:
        case RecordType::compressed2: return take_compressed(record, head.type);
        default: return;
    }
}

void Reader::State::take_compressed(const Piece& record, RecordType type) {
    ++summary.compressed;
    const auto done = compressed.unpack(record.bytes, type, header.foreign, [&](Bytes unpacked) {
        const std::size_t used = walk({unpacked, record.offset, Memory::passing, true});
        return stopped ? std::nullopt : std::optional{used};
    });
    if (!done) fail(record.offset, done.error().cause);
}

/// HEADER_ATTR of pipe mode: the attr, whose own `size` says where the ids begin. 64 is PERF_ATTR_SIZE_VER0.
void Reader::State::take_header_attr(Bytes record) {
    const Bytes body = record.subspan(kRecordHeader);
    Cursor cursor{body, header.foreign};
    cursor.u32();
    const std::uint32_t size = cursor.u32();
    if (!cursor.ok() || size < 64 || size > body.size()) return;
    EventInfo event;
    event.attr = read_attr(body.first(size), header.foreign);
    Cursor ids{body.subspan(size), header.foreign};
    while (ids.left() >= 8) event.ids.push_back(ids.u64());
    events.add(std::move(event));
}

/// HEADER_FEATURE of pipe mode: the feature's number, then what a file has in the feature's section.
void Reader::State::take_feature(Bytes record) {
    Cursor cursor{record.subspan(kRecordHeader), header.foreign};
    const std::uint64_t feature = cursor.u64();
    if (!cursor.ok() || cursor.left() == 0) return;  // an empty one ends the list
    read_feature(static_cast<Feature>(feature), record.subspan(kRecordHeader + 8), header.foreign, facts);
    if (static_cast<Feature>(feature) == Feature::event_description) events.name(facts.events);
}

void Reader::State::take_simpleperf_record(Bytes record, RecordType type) {
    simpleperf.take(type, record, facts);
    consumer->user_record(type, record, header.foreign);
    if (type != RecordType::simpleperf_event_id) return;
    for (const SimpleperfRecords::EventId& each : SimpleperfRecords::event_ids(record))
        events.add_id(each.event, each.id);
}

/// EVENT_UPDATE: u64 kind, u64 id, then by the kind. Only the unit and the name matter here; the other kinds are a
/// scale factor and a list of CPUs (perf_record_event_update of perf's sources).
void Reader::State::take_event_update(Bytes record) {
    enum : std::uint64_t { kUnit = 0, kName = 2 };
    Cursor cursor{record.subspan(kRecordHeader), header.foreign};
    const std::uint64_t what = cursor.u64(), id = cursor.u64();
    if (!cursor.ok() || (what != kUnit && what != kName)) return;
    events.update(id, what == kName, std::string{cursor.text()});
}

// LOST and LOST_SAMPLES report the same losses: the first when one happens, the second once for each event at the end.
// So each has a sum of its own.
void Reader::State::deliver(Bytes record, std::uint32_t event) {
    const auto head = load<RecordHeader>(record.data());
    if (head.type == RecordType::sample) return deliver_sample(record, event);
    const SampleLayout& layout = events.layout(0);
    const std::size_t body = record.size() - kRecordHeader;
    const Bytes without_id = record.first(record.size() - std::min(layout.trailer_size(), body));
    Cursor cursor{without_id.subspan(kRecordHeader)};
    if (head.type == RecordType::lost) {
        cursor.u64();
        summary.lost += cursor.u64();
    }
    if (head.type == RecordType::lost_samples) summary.lost_samples += cursor.u64();
    const std::uint64_t task = layout.trailer_task(record);
    consumer->record({.type = head.type,
                      .misc = head.misc,
                      .bytes = without_id,
                      .time = layout.trailer_time(record),
                      .event = event,
                      .pid = static_cast<std::uint32_t>(task),
                      .tid = static_cast<std::uint32_t>(task >> 32),
                      .cpu = layout.trailer_cpu(record)});
}

void Reader::State::deliver_sample(Bytes record, std::uint32_t event) {
    const SampleLayout& layout = events.layout(event);
    const bool is_cut = few_fields && layout.has_few_fields();
    if (!(is_cut ? layout.decode_few_fields(record, sample) : layout.decode(record, sample))) {
        ++summary.damaged_samples;
        return;
    }
    if (sample.read.entries.empty()) {
        ++summary.samples;
        return consumer->sample(sample, event);
    }
    deliver_read_values(sample, event);
}

/// Leader sampling: each value of a sample's PERF_SAMPLE_READ is a sample of the event that it belongs to. Its period
/// is the increase since the last value; a value without an increase makes no sample, as in perf
/// (deliver_sample_value()). The values are totals of an event on one CPU or thread, and each of those has an id of its
/// own, so the last value is kept by id.
void Reader::State::deliver_read_values(Sample& read, std::uint32_t event) {
    for (std::size_t i = 0; i < read.read.size(); ++i) {
        const std::uint64_t id = read.read.id(i) != 0 ? read.read.id(i) : read.id;
        const std::uint32_t of = events.of_id(id).value_or(event);
        std::uint64_t& last = last_values[id];
        read.period = read.read.value(i) - last;
        last = read.read.value(i);
        if (read.period == 0) continue;
        ++summary.samples;
        consumer->sample(read, of);
    }
}

}  // namespace anyperf::perfdata
