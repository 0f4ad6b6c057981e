// sample_layout.h: where the fields of an event's records are. Computed once for each event, so that a sample is a few
// loads: the fields up to PERIOD have fixed places, those after it are walked with bounds.
//
// A sample has the fields of attr.sample_type in the order of perf_event_open(2), "PERF_RECORD_SAMPLE". That is not the
// order of the bits: IDENTIFIER (bit 16) is first, PERIOD (bit 8) is before READ (bit 4), and what kernels added is at
// the end. Every field up to PERIOD has 8 bytes, so its place follows from the bits alone. READ is the first field
// whose size depends on its contents.
//
// Any other record ends with the fields of `struct sample_id`, if attr.sample_id_all is set. It has a fixed size, so
// its places are counted from the end of the record: what comes before it may be a text of any length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "anyperf/attr.h"
#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// A view of 64-bit numbers in a record, which need not be aligned.
class Numbers {
  public:
    Numbers() = default;
    Numbers(const std::byte* begin, std::size_t count) : begin_(begin), count_(count) {}

    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    std::uint64_t operator[](std::size_t i) const { return load<std::uint64_t>(begin_ + i * sizeof(std::uint64_t)); }
    const std::byte* data() const { return begin_; }

  private:
    const std::byte* begin_ = nullptr;
    std::size_t count_ = 0;
};

/// The values of a PERF_SAMPLE_READ.
struct ReadValues {
    std::uint64_t enabled_ns = 0, running_ns = 0;
    Numbers entries;  ///< of `entry_words` numbers each: value, [id], [lost]
    std::size_t entry_words = 1;
    bool has_id = false;
    std::uint64_t single_id = 0;  ///< of the only value, without PERF_FORMAT_GROUP

    std::size_t size() const { return entries.size() / entry_words; }
    std::uint64_t value(std::size_t i) const { return entries[i * entry_words]; }
    std::uint64_t id(std::size_t i) const { return has_id ? entries[i * entry_words + 1] : single_id; }
};

/// The fields of a SAMPLE record. Those that the event does not have are 0 or empty. Views live as long as the record.
struct Sample {
    std::uint64_t ip = 0, time = 0, addr = 0, id = 0, stream_id = 0, period = 0;  ///< `time` in ns
    std::uint32_t pid = 0, tid = 0, cpu = 0;  ///< ~0 if the event does not have them: 0 is the idle task, and a CPU
    std::uint16_t misc = 0;                   ///< of the record's header: the mode (kMiscModeMask) and exactness of ip
    ReadValues read;
    Numbers call_chain;  ///< addresses and markers (PERF_CONTEXT_USER …), the innermost first
    Bytes raw;           ///< of a tracepoint: its record, by the tracepoint's `format` file
    Numbers branches;    ///< {from, to, flags} each
    std::uint64_t branch_hw_index = 0;
    std::uint64_t user_abi = 0, interrupt_abi = 0;
    Numbers user_registers, interrupt_registers;  ///< one for each set bit of the attr's mask, from the lowest on
    Bytes user_stack;                             ///< only its valid bytes
    Bytes user_state;                             ///< all of REGS_USER and STACK_USER as it is in the record
    std::uint16_t instruction_latency = 0, stage_cycles = 0;  ///< the upper halves of WEIGHT_STRUCT
    std::uint64_t weight = 0, data_source = 0, transaction = 0, physical_address = 0, cgroup = 0;
    std::uint64_t data_page_size = 0, code_page_size = 0;
    Bytes aux;
};

/// The places of one event's fields. It keeps nothing of the attr that it was made from.
class SampleLayout {
  public:
    explicit SampleLayout(const abi::Attr& attr);

    /// Reads a whole record, header included. False if its fields pass its end; `sample` is then incomplete.
    bool decode(Bytes record, Sample& sample) const;

    /// Whether a sample of this event may be cut off after its period (Consumer::needs_few_fields()).
    bool has_few_fields() const { return may_be_cut_; }
    /// Bytes of a sample that was cut off, at most: a header and nine fields.
    static constexpr std::size_t kMostFewFields = kRecordHeader + std::size_t{9} * 8;
    /// Whether decode() would succeed. It may use `scratch`.
    bool is_whole(Bytes record, Sample& scratch) const;
    /// A copy of the record up to the period, as a record. Precondition: it is whole.
    Bytes cut(Bytes record, std::span<std::byte, kMostFewFields> to) const;
    /// The same as decode() of what cut() returned.
    bool decode_few_fields(Bytes record, Sample& sample) const;

    /// Where these fields are in a sample, from its begin; 0: the event lacks the field.
    struct Places {
        std::size_t ip, time, period;
    };
    Places places() const { return {ip_, time_, period_}; }

    /// The time of a SAMPLE record; 0 without PERF_SAMPLE_TIME or if the record is too short.
    std::uint64_t sample_time(Bytes record) const { return at(record, time_); }

    /// The time in the sample id at the end of another record; 0 if it has none.
    std::uint64_t trailer_time(Bytes record) const { return from_end(record, trailer_time_); }
    /// The pid there, and the tid in the upper half; all bits set if it has none.
    std::uint64_t trailer_task(Bytes record) const {
        return trailer_task_ == 0 ? ~std::uint64_t{0} : from_end(record, trailer_task_);
    }
    std::uint32_t trailer_cpu(Bytes record) const {
        return trailer_cpu_ == 0 ? ~0u : static_cast<std::uint32_t>(from_end(record, trailer_cpu_));
    }

    /// Bytes of the sample id at the end of records that are not samples.
    std::size_t trailer_size() const { return trailer_size_; }

    bool has_id() const { return id_ != 0; }
    bool has_time() const { return time_ != 0; }
    std::uint64_t sample_id(Bytes record) const { return at(record, id_); }
    std::uint64_t trailer_id(Bytes record) const { return from_end(record, trailer_id_); }

    /// The offset of the id in a sample; 0 without one. It must be the same for all events of a recording, so that a
    /// sample's event can be found before its layout is known.
    std::size_t id_position() const { return id_; }

  private:
    static std::uint64_t at(Bytes record, std::size_t position) {
        return position != 0 && position + 8 <= record.size() ? load<std::uint64_t>(record.data() + position) : 0;
    }
    static std::uint64_t from_end(Bytes record, std::size_t back) {
        return back != 0 && back + 8 <= record.size() ? load<std::uint64_t>(record.data() + record.size() - back) : 0;
    }
    void lay_out_sample();
    void lay_out_trailer(std::uint64_t flags);
    bool has(std::uint64_t mask) const { return (sample_type_ & mask) != 0; }
    bool decode_rest(Bytes record, Sample& sample) const;
    void decode_read(Cursor& cursor, ReadValues& read) const;
    void decode_branches(Cursor& cursor, Sample& sample) const;

    std::uint64_t sample_type_, read_format_, branch_type_, user_registers_, interrupt_registers_, period_value_;
    // Positions from the record's begin, and from its end; 0: the event lacks the field.
    std::size_t ip_ = 0, tid_ = 0, time_ = 0, addr_ = 0, id_ = 0, stream_id_ = 0, cpu_ = 0, period_ = 0;
    std::size_t fixed_size_ = 0;
    std::size_t trailer_size_ = 0, trailer_time_ = 0, trailer_id_ = 0, trailer_task_ = 0, trailer_cpu_ = 0;
    bool only_fixed_ = true;   // nothing after PERIOD
    bool only_chain_ = false;  // nothing but CALLCHAIN after PERIOD
    bool may_be_cut_ = false;  // neither READ nor RAW
};

}  // namespace anyperf::perfdata
