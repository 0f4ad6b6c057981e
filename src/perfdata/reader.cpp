// reader.cpp: the walk over the records and what is done with each. reader.h describes the whole; here is the path of
// one record, with the functions in the order in which they see it:
//
//     walk()                  finds its size, in a mapped file, a buffer of a stream, or unpacked bytes
//     take()                  separates the kernel's records (types below 64) from perf's own
//     take_kernel_record()    finds its event, swaps its numbers if they are foreign, finds its time
//     queue()                 keeps it until its round is over, or passes it on at once if it has no time
//     deliver()               takes the sample id off; deliver_sample() decodes a sample into Sample
//     take_user_record()      acts at once on what describes events, features, rounds and compression
//
// The memory of a record differs by its origin (Memory). Records of a mapped file stay where they are, and those that
// were read into a chunk of the queue stay as long as they wait: the queue points to them. All others are in a buffer
// that is soon overwritten, and the queue copies them.
#include "perfdata/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "perfdata/byte_order.h"
#include "perfdata/bytes/compressed_records.h"
#include "perfdata/bytes/directory.h"
#include "perfdata/bytes/input.h"
#include "perfdata/event_table.h"
#include "perfdata/read_attr.h"
#include "perfdata/round_queue.h"
#include "perfdata/simpleperf.h"
#include "try.h"

namespace anyperf::perfdata {

namespace {

/// Bytes that one read(2) of a stream may give. It must hold the longest record (kLongestRecord).
constexpr std::size_t kBuffer = 1 << 20;

/// Bytes of a mapped file that may be in memory at a time.
constexpr std::size_t kMostResident = 8 << 20, kReleaseEvery = 4 << 20;

/// Bytes of a mapped file that are walked over before there may be room to read into again.
constexpr std::size_t kMappedPiece = 1 << 20;

/// Bytes of a directory's file that are read before another file's turn may come.
constexpr std::size_t kRingPiece = 1 << 20;

/// Formats of tracepoints that are larger are skipped. Those of all 2,305 tracepoints of Linux 6.18 have 3 MB.
constexpr std::size_t kMostFormats = 64 << 20;

/// Records of simpleperf have sizes of 32 bits. One that is not in a mapped file must fit into memory.
constexpr std::size_t kLongestUnpacked = 64 << 20;

enum class Memory : std::uint8_t {
    mapped,   ///< of a file. The queue may keep a pointer
    chunk,    ///< of a file, in the chunk that the queue gave last. The queue may keep a pointer
    passing,  ///< of a stream, a compressed record or the swapped scratch record. The queue copies it
};

/// One or more records, or a part of one. `offset` is for messages: the bytes' place in a file. A record of a stream
/// has the offset of its buffer, an unpacked record that of the COMPRESSED record.
struct Piece {
    Bytes bytes;
    std::uint64_t offset;
    Memory memory;
    bool is_unpacked = false;

    bool is_of_file() const { return memory != Memory::passing; }
};

}  // namespace

struct Reader::State {
    State(Input opened, FileHeader read, std::vector<RingFile> files)
        : input(std::move(opened)), header(std::move(read)), rings(std::move(files)) {}

    void read_all();
    void read_mapped();
    void read_stream();
    /// Merges the files of a directory: what is not newer than the newest record of each unfinished file is in order.
    void read_rings();
    void read_piece(RingFile& file);
    /// Walks over some of the `size` bytes at `offset` of the file, and returns how many it used.
    std::size_t walk_at(std::size_t offset, std::size_t size);
    /// Walks over whole records and returns how many bytes it used. Sets damage where a record is impossible.
    std::size_t walk(const Piece& piece);
    void take(const Piece& record, RecordHeader head);
    void take_kernel_record(const Piece& record, RecordHeader head);
    void take_event_record(const Piece& record, bool is_sample, std::uint32_t event);
    /// Queues the fields that the consumer needs as a record of their own.
    void queue_few_fields(const Piece& record, const SampleLayout& layout, std::uint32_t event);
    void take_user_record(const Piece& record, RecordHeader head);
    void take_compressed(const Piece& record, RecordType type);
    void take_header_attr(Bytes record);
    void take_feature(Bytes record);
    void take_event_update(Bytes record);
    void take_simpleperf_record(Bytes record, RecordType type);
    /// The maps and names that simpleperf has in a section of their own, before all records.
    void read_initial_maps();
    void queue(std::uint64_t time, const Piece& record, std::uint32_t event);
    void add_with_place(std::uint64_t time, const Piece& record, std::uint32_t event);
    /// FINISHED_ROUND: delivers what the promise of the previous mark covers (round_queue.h).
    void end_round();
    /// Gives mapped memory back to the kernel, so that a file of any size uses little memory: what no waiting record
    /// needs, and if that leaves too much, the rest as well, which is then read again from the file.
    void release();
    void deliver(Bytes record, std::uint32_t event);
    void tell_place(std::uint64_t offset, Bytes record) {
        if (places) consumer->place({offset, record});
    }
    void deliver_sample(Bytes record, std::uint32_t event);
    void deliver_read_values(Sample& sample, std::uint32_t event);
    void fail(std::uint64_t offset, std::string cause);
    /// How many bytes after the record belong to it, without being counted in its size.
    std::uint64_t payload_after(Bytes record, RecordType type);
    /// The next bytes of a payload.
    void take_payload(Bytes bytes);
    /// A function that the queue calls for each record that is due. A record that is older than one before it breaks
    /// the promise of FINISHED_ROUND; it is counted and delivered all the same, as perf does.
    auto delivering() {
        return [this](const RoundQueue::Entry& entry) {
            summary.late += entry.time < delivered;
            delivered = std::max(delivered, entry.time);
            const std::byte* record = entry.record + (places ? sizeof(RecordPlace::offset) : 0);
            const std::uint16_t size = load<RecordHeader>(record).size;
            if (places) tell_place(load<std::uint64_t>(entry.record), {record, size});
            deliver({record, size}, entry.event);
            // A round of large rings may have gigabytes.
            if (!entry.is_stable()) return;
            touched += size;
            if (touched > kMostResident) drop();
        };
    }
    /// Drops all mapped memory that was walked over.
    void drop() {
        touched = 0;
        input.drop_before(walked);
    }

    Input input;
    FileHeader header;
    std::vector<RingFile> rings;  // of a directory
    RingFile* ring = nullptr;     // the one that is being read
    EventTable events;
    Facts facts;
    Summary summary;
    Consumer* consumer = nullptr;
    RoundQueue waiting;
    CompressedRecords compressed;
    SimpleperfRecords simpleperf;
    bool few_fields = false;                                       // Consumer::needs_few_fields()
    bool places = false;                                           // Consumer::needs_places()
    std::vector<std::byte> placed;                                 // the offset of a record, and the record
    std::array<std::byte, SampleLayout::kMostFewFields> cut;       // a sample that was cut off after its period
    std::vector<std::byte> scratch;                                // a record of the other byte order, after the swap
    std::unordered_map<std::uint64_t, std::uint64_t> last_values;  // of events that a leader reads, by id
    std::uint64_t delivered = 0;                                   // the newest time that was passed on
    std::size_t walked = 0, touched = 0;  // in the mapped file: how far walk() is; bytes since the last drop()
    std::size_t next_drop = 0;
    std::size_t next_release = 0;  // where walk() releases memory, if no mark comes before
    bool uses_mapping = false;     // records of the mapped file were walked over, not only of chunks
    std::uint64_t skip = 0;        // bytes of a payload that were not walked over yet
    bool keeps_payload = false;    // it has the formats of tracepoints
    std::vector<std::byte> payload;
    bool stopped = false;  // by damage: no later record can be found
    Sample sample;
};

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

const std::vector<EventInfo>& Reader::events() const {
    return state_->events.all();
}

const Facts& Reader::facts() const {
    return state_->facts;
}

const FileHeader& Reader::header() const {
    return state_->header;
}

bool Reader::is_pipe() const {
    return state_->header.pipe;
}

namespace {

std::string name_of(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
    Input input = TRY(Input::open(header_path(path)));
    std::vector<std::byte> begin(kPipeHeaderSize);
    // A pipe may give fewer bytes than asked for. At its end `begin` is cut, so that the header is refused as too
    // short.
    if (input.is_stream()) {
        for (std::size_t got = 0; got < begin.size();) {
            const std::size_t more = TRY(input.read(&begin[got], begin.size() - got));
            if (more == 0) begin.resize(got);
            got += more;
        }
        if (begin.empty())
            return std::unexpected(Error{fmt::format("cannot read {}", name_of(path)), "nothing was written to it",
                                         "see why the program that should write the recording has not done so"});
    }
    if (input.is_stream() && begin.size() == kPipeHeaderSize && is_perf_data(begin) && !begins_as_pipe(begin))
        return std::unexpected(Error{fmt::format("cannot read {}", name_of(path)),
                                     "it is the recording of a file, whose parts are read in another order",
                                     "save it to a file, and name that with -i; or record with -o -"});
    auto header = read_file_header(input.is_stream() ? Bytes{begin} : input.mapped());
    if (!header) {
        header.error().what = fmt::format("cannot read {}", name_of(path));
        return std::unexpected(header.error());
    }
    // The names are in a feature section, EVENT_DESC, so the events get them last.
    auto state = std::make_unique<State>(std::move(input), std::move(*header), TRY(open_ring_files(path)));
    for (EventInfo& event : state->header.events) state->events.add(std::move(event));
    for (const FeatureSection& section : state->header.features)
        read_feature(section.feature, state->input.mapped().subspan(section.place.offset, section.place.size),
                     state->header.foreign, state->facts);
    state->events.name(state->facts.events);
    for (std::size_t i = 0; i < state->events.all().size(); ++i)
        state->events.name_unnamed(i, simpleperf_event_name(state->facts, state->events.all()[i].attr));
    return Reader{std::move(state)};
}

Summary Reader::read(Consumer& consumer) {
    state_->consumer = &consumer;
    state_->few_fields = consumer.needs_few_fields();
    state_->places = consumer.needs_places();
    state_->read_all();
    return state_->summary;
}

void Reader::State::read_all() {
    if (!header.note.empty()) summary.damage = Error{"the recording is damaged", header.note, {}};
    input.is_stream() ? read_stream() : read_mapped();
    read_rings();
    waiting.end(delivering());
    waiting = {};  // its memory is wanted for what the consumer makes of the records
}

void Reader::State::read_initial_maps() {
    for (const FeatureSection& section : header.features)
        if (section.feature == Feature::simpleperf_initial_maps)
            walk({input.mapped().subspan(section.place.offset, section.place.size), section.place.offset,
                  Memory::mapped});
}

void Reader::State::read_mapped() {
    read_initial_maps();
    if (stopped) return;
    const std::size_t begin = header.data.offset, end = begin + header.data.size;
    for (std::size_t at = begin; at < end;) {
        if (skip != 0 && !keeps_payload) {
            const std::size_t step = std::min<std::uint64_t>(skip, end - at);
            skip -= step;
            at += step;
            continue;
        }
        const std::size_t used = walk_at(at, end - at);
        if (stopped) return;
        if (used == 0) {
            if (!summary.damage) fail(at, fmt::format("the last record is cut: {} bytes are left", end - at));
            return;
        }
        at += used;
    }
}

// A chunk that is full, or a record that has no room in one (of simpleperf), leaves the mapping.
std::size_t Reader::State::walk_at(std::size_t offset, std::size_t size) {
    const std::span<std::byte> chunk = waiting.begin_chunk();
    if (const std::span<std::byte> room = chunk.first(std::min(chunk.size(), size)); !room.empty()) {
        const auto got = input.read_at(offset, room);
        if (!got) {
            fail(offset, got.error().cause);
            return 0;
        }
        const std::size_t used = walk({room.first(*got), offset, Memory::chunk});
        if (used != 0 || stopped || *got == size) return used;
    }
    const Bytes rest = input.mapped().subspan(offset, size);
    if (chunk.empty()) {
        const std::size_t used = walk({rest.first(std::min(size, kMappedPiece)), offset, Memory::mapped});
        if (used != 0 || stopped) return used;
    }
    return walk({rest, offset, Memory::mapped});
}

// The bytes of an incomplete record at the end of the buffer move to its front before the next read(2).
void Reader::State::read_stream() {
    std::vector<std::byte> buffer(kBuffer);
    std::size_t kept = 0;
    std::uint64_t offset = kPipeHeaderSize;
    for (;;) {
        const auto got = input.read(&buffer[kept], buffer.size() - kept);
        if (!got) return fail(offset + kept, got.error().cause);
        if (*got == 0) break;
        const std::size_t size = kept + *got;
        const std::size_t used = walk({Bytes{buffer}.first(size), offset, Memory::passing});
        if (stopped) return;
        kept = size - used;
        std::memmove(buffer.data(), &buffer[used], kept);
        offset += used;
    }
    if (kept != 0) fail(offset, fmt::format("the last record is cut: {} bytes are left", kept));
}

// Reads a piece of the file whose newest record is the oldest. So no file gets ahead of the others by more than a
// piece.
void Reader::State::read_rings() {
    for (;;) {
        RingFile* oldest = nullptr;
        for (RingFile& each : rings)
            if (!each.is_done() && (!oldest || each.newest < oldest->newest)) oldest = &each;
        if (!oldest) return;
        waiting.deliver_until(oldest->newest, delivering());
        read_piece(*oldest);
    }
}

// Damage ends only the file that has it.
void Reader::State::read_piece(RingFile& file) {
    const Bytes all = file.input.mapped();
    ring = &file;
    std::swap(compressed, file.compressed);
    std::swap(skip, file.skip);
    const std::size_t begin = file.at;
    file.at += walk({all.subspan(begin, std::min(kRingPiece, all.size() - begin)), begin, Memory::mapped});
    if (!stopped && file.at == begin)
        fail(begin, fmt::format("the last record is cut: {} bytes are left", all.size() - begin));
    if (std::exchange(stopped, false)) file.at = all.size();
    std::swap(compressed, file.compressed);
    std::swap(skip, file.skip);
    ring = nullptr;
    const std::byte* lowest = waiting.lowest_in(all);
    file.input.release_before(lowest ? static_cast<std::size_t>(lowest - all.data()) : file.at);
}

void Reader::State::fail(std::uint64_t offset, std::string cause) {
    stopped = true;
    const std::string place = ring ? ring->name + ", " : "";
    summary.damage = Error{"the recording is damaged", fmt::format("{}offset {}: {}", place, offset, std::move(cause)),
                           "what comes before it has been read"};
}

// The size is checked before it is used: with a size below 8 the walk could not go on. A record that passes the end of
// the piece waits for the next piece (of a stream, or of a compressed record), or is the cut end of the file. In a
// stream the payload of the last record may go on in the next buffer; `skip` has how much of it is left.
std::size_t Reader::State::walk(const Piece& piece) {
    std::size_t at = 0;
    uses_mapping |= piece.memory == Memory::mapped;
    while (piece.bytes.size() - at >= kRecordHeader) {
        if (skip != 0) {
            const std::uint64_t step = std::min<std::uint64_t>(skip, piece.bytes.size() - at);
            skip -= step;
            take_payload(piece.bytes.subspan(at, step));
            at += step;
            continue;
        }
        auto head = load<RecordHeader>(&piece.bytes[at]);
        if (header.foreign)
            head = {static_cast<RecordType>(reversed(static_cast<std::uint32_t>(head.type))), reversed(head.misc),
                    reversed(head.size)};
        const std::size_t size = head.size + (is_simpleperf(head.type) ? std::size_t{head.misc} << 16 : 0);
        if (size < kRecordHeader) {
            fail(piece.offset + at, fmt::format("a record of {} bytes is impossible", size));
            break;
        }
        if (!piece.is_of_file() && size > kLongestUnpacked) {
            fail(piece.offset + at, fmt::format("a record of {} bytes is too long to be unpacked", size));
            break;
        }
        if (size > piece.bytes.size() - at) break;
        const Piece record{piece.bytes.subspan(at, size), piece.is_unpacked ? piece.offset : piece.offset + at,
                           piece.memory, piece.is_unpacked};
        skip = payload_after(record.bytes, head.type);
        ++summary.records;
        if (piece.is_of_file() && !ring) {
            walked = record.offset;
            if (walked >= next_release) release();
        }
        take(record, head);
        at += size;
        if (stopped) break;
    }
    return at;
}

/// Bytes that belong to a record but are not counted in its size, because they may be more than its 16 bits can say:
/// the hardware trace of AUXTRACE (its first u64) and the formats of HEADER_TRACING_DATA (a u32, padded to 8). Old
/// simpleperfs have the formats within the record.
std::uint64_t Reader::State::payload_after(Bytes record, RecordType type) {
    Cursor body{record.subspan(kRecordHeader), header.foreign};
    if (type == RecordType::auxtrace) return body.u64();
    if (type != RecordType::header_tracing_data) return 0;
    const std::uint64_t size = (std::uint64_t{body.u32()} + 7) & ~std::uint64_t{7};
    if (body.left() > 4) {
        simpleperf.take(type, record, facts);
        return 0;
    }
    keeps_payload = size != 0 && size <= kMostFormats;
    return size;
}

// A pipe gives the formats in many parts.
void Reader::State::take_payload(Bytes bytes) {
    if (!keeps_payload) return;
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    if (skip != 0) return;
    read_feature(Feature::tracing_data, payload, header.foreign, facts);
    keeps_payload = false;
    payload = {};
}

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

void Reader::State::release() {
    if (input.is_stream() || ring) return;
    next_release = walked + kReleaseEvery;
    if (!uses_mapping) return;
    const std::byte* lowest = waiting.lowest_in(input.mapped());
    const std::size_t needed = lowest ? static_cast<std::size_t>(lowest - input.mapped().data()) : walked;
    input.release_before(needed);
    if (walked - needed > kMostResident && walked >= next_drop) {
        next_drop = walked + kMostResident;
        drop();
    }
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
