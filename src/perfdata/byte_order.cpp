// byte_order.cpp: turns a record of the other byte order into this machine's, in place, so that all decoders see one
// order only.
//
// A record is not one kind of number: a u32 pair, a u64 and a text need different treatment, and only the record's type
// and its event's attr say which is where. perf turns every sample as 64-bit words and then swaps the halves of the
// pairs back; here each field is turned by its shape, so nothing is turned twice. Bytes stay as they are: names, raw
// data of tracepoints, the copied stack. Their contents are of the other machine, whose conventions the reader of a
// profile does not need.
//
// Sizes in a foreign record are read while they are turned, since a count decides how many numbers follow. None is
// trusted: Turner never passes the end of the record.
#include "perfdata/byte_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

namespace {

/// Turns numbers one after the other and never passes the end.
class Turner {
  public:
    explicit Turner(std::span<std::byte> bytes) : bytes_(bytes) {}

    /// Turns the next number and returns it in this machine's order: counts and sizes decide what follows. If it does
    /// not fit, returns 0 and turns no later number.
    template <class Number>
    Number turn() {
        if (bytes_.size() - at_ < sizeof(Number)) {
            at_ = bytes_.size();
            return 0;
        }
        const Number value = reversed(load<Number>(&bytes_[at_]));
        std::memcpy(&bytes_[at_], &value, sizeof value);
        at_ += sizeof value;
        return value;
    }
    void pair() {
        turn<std::uint32_t>();
        turn<std::uint32_t>();
    }
    /// `count` words of 64 bits, or as many as fit: the count is from the file.
    void words(std::uint64_t count) {
        for (std::uint64_t left = std::min<std::uint64_t>(count, (bytes_.size() - at_) / 8); left > 0; --left)
            turn<std::uint64_t>();
    }
    void skip(std::uint64_t size) { at_ += std::min<std::uint64_t>(size, bytes_.size() - at_); }
    std::size_t left() const { return bytes_.size() - at_; }

  private:
    std::span<std::byte> bytes_;
    std::size_t at_ = 0;
};

/// The numbers at the beginning of a record's body, by their sizes in bytes. Bytes after them stay as they are. '*':
/// words up to the sample id; '-': 24 bytes that are a build id or numbers. The structs are those of enum
/// perf_event_type in include/uapi/linux/perf_event.h; a type that is not here stays as it is, apart from its sample
/// id.
struct Shape {
    RecordType type;
    std::string_view sizes;
};
constexpr std::array kShapes{
    Shape{RecordType::mmap, "44888"},
    Shape{RecordType::lost, "88"},
    Shape{RecordType::comm, "44"},
    Shape{RecordType::exit, "44448"},
    Shape{RecordType{5}, "888"},  // THROTTLE
    Shape{RecordType{6}, "888"},  // UNTHROTTLE
    Shape{RecordType::fork, "44448"},
    Shape{RecordType{8}, "44*"},  // READ
    Shape{RecordType::mmap2, "44888-44"},
    Shape{RecordType{11}, "888"},  // AUX
    Shape{RecordType{12}, "44"},   // ITRACE_START
    Shape{RecordType::lost_samples, "8"},
    Shape{RecordType::switch_, ""},
    Shape{RecordType::switch_cpu_wide, "44"},
    Shape{RecordType::namespaces, "44*"},
    Shape{RecordType::ksymbol, "8422"},
    Shape{RecordType{18}, "224"},  // BPF_EVENT
    Shape{RecordType::cgroup, "8"},
    Shape{RecordType::text_poke, "822"},
    Shape{RecordType{21}, "8"},  // AUX_OUTPUT_HW_ID
    Shape{RecordType::callchain_deferred, "*"},
};

/// MMAP2: u32 maj, min; u64 inode, generation. Or the build id, which is bytes.
void turn_identity(Turner& turner, bool build_id) {
    if (build_id) return turner.skip(24);
    turner.pair();
    turner.words(2);
}

void turn_shape(std::string_view sizes, std::uint16_t misc, Turner& turner) {
    for (const char size : sizes) switch (size) {
            case '2': turner.turn<std::uint16_t>(); break;
            case '4': turner.turn<std::uint32_t>(); break;
            case '8': turner.turn<std::uint64_t>(); break;
            case '*': turner.words(turner.left() / 8); break;
            case '-': turn_identity(turner, (misc & kMiscMmapBuildId) != 0); break;
        }
}

/// The sample id of a record that is not a sample, in the order of abi::kSampleBits. IDENTIFIER (bit 16) is the
/// exception: it comes first in a sample, and so in that table, but last here (perf_event__output_id_sample() in
/// kernel/events/core.c).
void turn_sample_id(std::uint64_t sample_type, Turner& turner) {
    for (const abi::SampleBit& field : abi::kSampleBits) {
        if (!field.in_sample_id || (sample_type & field.mask()) == 0 || field.bit == 16) continue;
        field.shape == abi::SampleShape::two_u32 ? turner.pair() : turner.words(1);
    }
    if ((sample_type & abi::sample("PERF_SAMPLE_IDENTIFIER")) != 0) turner.words(1);
}

/// PERF_SAMPLE_READ. The number of values is bounded before it is multiplied, so that the product cannot overflow.
void turn_read(std::uint64_t format, Turner& turner) {
    const auto has = [&](std::uint64_t mask) { return (format & mask) != 0 ? 1u : 0u; };
    const std::uint64_t times = has(abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED")) +
                                has(abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING"));
    const std::uint64_t entry = 1 + has(abi::read_format("PERF_FORMAT_ID")) + has(abi::read_format("PERF_FORMAT_LOST"));
    const std::uint64_t entries = has(abi::read_format("PERF_FORMAT_GROUP")) != 0 ? turner.turn<std::uint64_t>() : 1;
    turner.words(times);
    turner.words(std::min<std::uint64_t>(entries, kLongestRecord) * entry);
}

/// PERF_SAMPLE_BRANCH_STACK: bit 17 of branch_sample_type (HW_INDEX) adds a word before the entries, bit 19 (COUNTERS)
/// a word for each entry after them.
void turn_branches(std::uint64_t branch_type, Turner& turner) {
    const std::uint64_t count = std::min<std::uint64_t>(turner.turn<std::uint64_t>(), kLongestRecord);
    turner.words((branch_type >> 17 & 1) + count * 3 + (branch_type >> 19 & 1) * count);
}

/// A size and that many bytes, which are not turned: only a reader of the stack knows what is where. A stack is
/// followed by the number of its valid bytes, unless it is empty.
void turn_bytes(Turner& turner, bool is_stack) {
    const auto size = turner.turn<std::uint64_t>();
    turner.skip(size);
    if (is_stack && size != 0) turner.words(1);
}

/// WEIGHT is a u64; WEIGHT_STRUCT has the same 8 bytes as a u32 and two u16.
void turn_weight(bool is_struct, Turner& turner) {
    if (!is_struct) return turner.words(1);
    turner.turn<std::uint32_t>();
    turner.turn<std::uint16_t>();
    turner.turn<std::uint16_t>();
}

void turn_field(const abi::SampleBit& field, const abi::Attr& attr, Turner& turner) {
    using enum abi::SampleShape;
    switch (field.shape) {
        case u64: turn_weight(field.name == "PERF_SAMPLE_WEIGHT_STRUCT", turner); break;
        case two_u32: turner.pair(); break;
        case read: turn_read(attr.read_format, turner); break;
        case u64_list: turner.words(turner.turn<std::uint64_t>()); break;
        case raw: turner.skip(turner.turn<std::uint32_t>()); break;
        case branches: turn_branches(attr.branch_sample_type, turner); break;
        case registers: {
            const bool user = field.name == "PERF_SAMPLE_REGS_USER";
            const std::uint64_t mask = user ? attr.sample_regs_user : attr.sample_regs_intr;
            if (turner.turn<std::uint64_t>() != 0) turner.words(static_cast<std::uint64_t>(std::popcount(mask)));
            break;
        }
        case stack: turn_bytes(turner, true); break;
        case bytes: turn_bytes(turner, false); break;
    }
}

/// Bytes of the sample id at the end of a record; 8 for each field. The sample id exists only with attr.sample_id_all.
std::size_t sample_id_size(const abi::Attr& attr) {
    if ((attr.flags & abi::flag("sample_id_all")) == 0) return 0;
    std::size_t size = 0;
    for (const abi::SampleBit& field : abi::kSampleBits)
        if (field.in_sample_id && (attr.sample_type & field.mask()) != 0) size += 8;
    return size;
}

}  // namespace

void turn_header(std::span<std::byte> record) {
    Turner turner{record};
    turner.turn<std::uint32_t>();
    turner.turn<std::uint16_t>();
    turner.turn<std::uint16_t>();
}

void turn_body(std::span<std::byte> record, const abi::Attr& attr) {
    if (record.size() < kRecordHeader) return;
    const auto header = load<RecordHeader>(record.data());
    const std::span<std::byte> body = record.subspan(kRecordHeader);
    if (header.type == RecordType::sample) {
        Turner turner{body};
        for (const abi::SampleBit& field : abi::kSampleBits)
            if ((attr.sample_type & field.mask()) != 0) turn_field(field, attr, turner);
        return;
    }
    const std::size_t trailer = std::min(sample_id_size(attr), body.size());
    const auto shape = std::ranges::find(kShapes, header.type, &Shape::type);
    Turner turner{body.first(body.size() - trailer)};
    if (shape != kShapes.end()) turn_shape(shape->sizes, header.misc, turner);
    Turner id{body.last(trailer)};
    turn_sample_id(attr.sample_type, id);
}

}  // namespace anyperf::perfdata
