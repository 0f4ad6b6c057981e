// reader_state.h: what a Reader has while it reads. Only reader_open.cpp, which opens a recording, reader_walk.cpp,
// which finds its records, and reader_records.cpp, which does what each record asks for, know it. The path of one
// record, with the functions in the order in which they see it:
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
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perfdata/bytes/compressed_records.h"
#include "perfdata/bytes/directory.h"
#include "perfdata/bytes/input.h"
#include "perfdata/event_table.h"
#include "perfdata/reader.h"
#include "perfdata/round_queue.h"
#include "perfdata/sample_layout.h"
#include "perfdata/simpleperf.h"

namespace anyperf::perfdata {

/// Bytes of a mapped file that may be in memory at a time.
inline constexpr std::size_t kMostResident = 8 << 20;

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

}  // namespace anyperf::perfdata
