// reader.h: reads a perf.data file from its first to its last record and passes the records on in the order of time.
// Files, pipe mode, compressed files and the other byte order look the same to the consumer. Memory is bounded by two
// rounds of the recorder, not by the file.
//
// How a recording is read
//
// The problem: a recording may have gigabytes, comes from a stranger, and is in no useful order. A recorder empties one
// ring after the other, so the record of a map may follow the samples in it. And a record does not describe itself: its
// fields depend on the attr of its event, which is found by an id at a place that again depends on the attr.
//
// The mechanism, from bytes to meaning:
// - bytes/ has a mapped file, a stream in pieces, the files of a directory, and what was compressed. walk()
//   (reader_walk.cpp) cuts them into records. A record is {u32 type, u16 misc, u16 size} and `size` bytes including
//   these 8 (struct perf_event_header).
// - event_table.h finds the record's event, byte_order.h swaps its numbers if the file has the other byte order, and
//   sample_layout.h knows where its time is.
// - round_queue.h keeps records until no older one can come. The consumer then gets them in the order of their times.
// - perf's own records (types from 64) have no time. They describe what follows them, so the reader acts on them at
//   their place in the file. COMPRESSED is one of them: its contents pass through walk() again.
//
// What a file has where (tools/perf/Documentation/perf.data-file-format.txt):
//     header     magic, sizes, the places of the sections, a bitmap of features (file_header.h)
//     attrs      for each event its perf_event_attr and the place of its ids
//     data       the records
//     features   a table of {offset, size}, then the sections: the facts of the recording (facts.h)
// simpleperf.h has what recordings of Android's simpleperf have besides.
// In pipe mode 16 bytes of header are followed by records at once. Attrs and features are then records themselves
// (HEADER_ATTR, HEADER_FEATURE), and names of events come as EVENT_UPDATE.
//
// What a damaged file does: a record whose size is impossible ends the reading, since the begin of the next one is
// unknown. All other damage is counted in Summary, and the record is left out. The records before the damage are
// delivered in every case.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/facts.h"
#include "perfdata/file_header.h"
#include "perfdata/sample_layout.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// A kernel record that is not a sample, in this machine's byte order.
struct Record {
    RecordType type;
    std::uint16_t misc = 0;
    Bytes bytes;  ///< with header, without the sample id
    std::uint64_t time = 0;
    std::size_t event = 0;  ///< index of the event that it belongs to
    /// Of its sample id; ~0 if that does not have them.
    std::uint32_t pid = ~0u, tid = ~0u, cpu = ~0u;
};

/// A record as it is in the recording, whole, in this machine's byte order if it is one of the kernel's.
struct RecordPlace {
    std::uint64_t offset = 0;  ///< in the file; of an unpacked record that of the COMPRESSED record it was in
    Bytes bytes;
};

/// Receives the records. Views are valid during the call. All calls come from Reader::read(), on its thread.
class Consumer {
  public:
    virtual ~Consumer() = default;

    /// `event` is an index of Reader::events(). With PERF_SAMPLE_READ one record may cause several calls: one for each
    /// event whose count has grown, with that growth as the period.
    virtual void sample(const Sample& sample, std::size_t event) = 0;
    /// Whether the fields of a sample up to its period are enough. Then the others are empty, unless the event has
    /// PERF_SAMPLE_READ or PERF_SAMPLE_RAW: chains and stacks are most of a file, and need not wait for their turn.
    virtual bool needs_few_fields() const { return false; }
    /// Whether place() is wanted, which costs a copy of each record.
    virtual bool needs_places() const { return false; }
    /// Called before each record is passed on, also before a damaged one that is then left out.
    virtual void place(const RecordPlace&) {}
    /// Any other record of the kernel's (types below 64), also one of a type that this anyperf does not know.
    virtual void record(const Record& record) = 0;
    /// A record of perf's or simpleperf's own (types from 64), with header, in the file's byte order and at its place
    /// in the file. The reader itself has already used those that describe events and features.
    virtual void user_record(RecordType, Bytes, bool /*foreign*/) {}
};

/// How the reading went. Only `damage` is a failure; the counts are for a note to the user.
struct Summary {
    /// `records` are all that were walked over, of every type; `samples` are the calls of Consumer::sample().
    std::uint64_t records = 0, samples = 0;
    std::uint64_t compressed = 0;       ///< of `records`, those that hold others
    std::uint64_t lost = 0;             ///< records that the kernel dropped, as LOST records say
    std::uint64_t lost_samples = 0;     ///< as LOST_SAMPLES records say: the same losses, do not add the two
    std::uint64_t late = 0;             ///< came later in the file than FINISHED_ROUND promised
    std::uint64_t unknown_types = 0;    ///< records of no type that perf or simpleperf has
    std::uint64_t unknown_ids = 0;      ///< samples of undeclared events; kernel records before any event
    std::uint64_t damaged_samples = 0;  ///< samples whose fields pass their end
    std::optional<Error> damage;        ///< what ended the reading too early, or else FileHeader::note

    /// Records that were dropped while recording, by whichever count is larger.
    std::uint64_t all_lost() const { return lost_samples > lost ? lost_samples : lost; }
};

class Reader {
  public:
    /// Opens a file, a directory that `perf record --threads` has written (directory.h), or standard input if `path` is
    /// "-", and reads its header. Fails if it can't be read or is not perf.data.
    static Result<Reader> open(const std::string& path);

    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();

    /// The events, with names. In pipe mode they become known while reading, before their first sample.
    const std::vector<EventInfo>& events() const;
    /// The facts of the recording. In pipe mode most become known while reading.
    const Facts& facts() const;
    /// The header of the file, or the first one of a directory.
    const FileHeader& header() const;
    /// Whether the recording has the header of pipe mode; it may be a file all the same.
    bool is_pipe() const;

    /// Reads all records. Damage ends it early; the summary says where. To be called once.
    Summary read(Consumer& consumer);

  private:
    struct State;
    explicit Reader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace anyperf::perfdata
