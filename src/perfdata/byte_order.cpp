// byte_order.cpp: which bytes of a record are numbers, and how wide they are.
//
// A record is not one kind of number: a u32 pair, a u64 and a text need different treatment, and only the record's type
// and its event's attr say which is where. perf swaps every sample as 64-bit words and then swaps the pairs of u32
// back; here each field is swapped by its shape, so nothing is swapped twice. Bytes stay as they are: names, raw data
// of tracepoints, the copied stack. Their contents are of the other machine, whose conventions the reader of a profile
// does not need.
//
// Sizes in a foreign record are read while they are swapped, since a count decides how many numbers follow. None is
// trusted: Swapper never passes the end of the record.
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

/// Swaps numbers one after the other and never passes the end.
class Swapper {
  public:
    explicit Swapper(std::span<std::byte> bytes) : bytes_(bytes) {}

    /// Swaps the next number and returns it in this machine's order: counts and sizes decide what follows. If it does
    /// not fit, returns 0 and swaps no later number.
    template <class Number>
    Number swap() {
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
        swap<std::uint32_t>();
        swap<std::uint32_t>();
    }
    /// `count` words of 64 bits, or as many as fit: the count is from the file.
    void words(std::uint64_t count) {
        for (std::uint64_t left = std::min<std::uint64_t>(count, (bytes_.size() - at_) / 8); left > 0; --left)
            swap<std::uint64_t>();
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
    Shape{RecordType::read, "44*"},
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
void swap_identity(Swapper& swapper, bool build_id) {
    if (build_id) return swapper.skip(24);
    swapper.pair();
    swapper.words(2);
}

void swap_shape(std::string_view sizes, std::uint16_t misc, Swapper& swapper) {
    for (const char size : sizes) switch (size) {
            case '2': swapper.swap<std::uint16_t>(); break;
            case '4': swapper.swap<std::uint32_t>(); break;
            case '*': swapper.words(swapper.left() / 8); break;
            case '-': swap_identity(swapper, (misc & kMiscMmapBuildId) != 0); break;
            default: swapper.swap<std::uint64_t>();  // '8'
        }
}

/// The sample id of a record that is not a sample, in the order of abi::kSampleBits. IDENTIFIER (bit 16) is the
/// exception: it comes first in a sample, and so in that table, but last here (perf_event__output_id_sample() in
/// kernel/events/core.c).
void swap_sample_id(std::uint64_t sample_type, Swapper& swapper) {
    for (const abi::SampleBit& field : abi::kSampleBits) {
        if (!field.in_sample_id || (sample_type & field.mask()) == 0 || field.bit == 16) continue;
        field.shape == abi::SampleShape::two_u32 ? swapper.pair() : swapper.words(1);
    }
    if ((sample_type & abi::sample("PERF_SAMPLE_IDENTIFIER")) != 0) swapper.words(1);
}

/// PERF_SAMPLE_READ. The number of values is bounded before it is multiplied, so that the product cannot overflow.
void swap_read(std::uint64_t format, Swapper& swapper) {
    const auto has = [&](std::uint64_t mask) { return (format & mask) != 0 ? 1u : 0u; };
    const std::uint64_t times = has(abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED")) +
                                has(abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING"));
    const std::uint64_t entry = 1 + has(abi::read_format("PERF_FORMAT_ID")) + has(abi::read_format("PERF_FORMAT_LOST"));
    const std::uint64_t entries = has(abi::read_format("PERF_FORMAT_GROUP")) != 0 ? swapper.swap<std::uint64_t>() : 1;
    swapper.words(times);
    swapper.words(std::min<std::uint64_t>(entries, kLongestRecord) * entry);
}

/// PERF_SAMPLE_BRANCH_STACK: bit 17 of branch_sample_type (HW_INDEX) adds a word before the entries, bit 19 (COUNTERS)
/// a word for each entry after them.
void swap_branches(std::uint64_t branch_type, Swapper& swapper) {
    const std::uint64_t count = std::min<std::uint64_t>(swapper.swap<std::uint64_t>(), kLongestRecord);
    swapper.words((branch_type >> 17 & 1) + count * 3 + (branch_type >> 19 & 1) * count);
}

/// A size and that many bytes, which are not swapped: only a reader of the stack knows what is where. A stack is
/// followed by the number of its valid bytes, unless it is empty.
void swap_bytes(Swapper& swapper, bool is_stack) {
    const auto size = swapper.swap<std::uint64_t>();
    swapper.skip(size);
    if (is_stack && size != 0) swapper.words(1);
}

/// WEIGHT is a u64; WEIGHT_STRUCT has the same 8 bytes as a u32 and two u16.
void swap_weight(bool is_struct, Swapper& swapper) {
    if (!is_struct) return swapper.words(1);
    swapper.swap<std::uint32_t>();
    swapper.swap<std::uint16_t>();
    swapper.swap<std::uint16_t>();
}

void swap_field(const abi::SampleBit& field, const abi::Attr& attr, Swapper& swapper) {
    using enum abi::SampleShape;
    switch (field.shape) {
        case u64: swap_weight(field.name == "PERF_SAMPLE_WEIGHT_STRUCT", swapper); break;
        case two_u32: swapper.pair(); break;
        case read: swap_read(attr.read_format, swapper); break;
        case u64_list: swapper.words(swapper.swap<std::uint64_t>()); break;
        case raw: swapper.skip(swapper.swap<std::uint32_t>()); break;
        case branches: swap_branches(attr.branch_sample_type, swapper); break;
        case registers: {
            const bool user = field.name == "PERF_SAMPLE_REGS_USER";
            const std::uint64_t mask = user ? attr.sample_regs_user : attr.sample_regs_intr;
            if (swapper.swap<std::uint64_t>() != 0) swapper.words(static_cast<std::uint64_t>(std::popcount(mask)));
            break;
        }
        case stack: swap_bytes(swapper, true); break;
        case bytes: swap_bytes(swapper, false); break;
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

void swap_header(std::span<std::byte> record) {
    Swapper swapper{record};
    swapper.swap<std::uint32_t>();
    swapper.swap<std::uint16_t>();
    swapper.swap<std::uint16_t>();
}

void swap_body(std::span<std::byte> record, const abi::Attr& attr) {
    if (record.size() < kRecordHeader) return;
    const auto header = load<RecordHeader>(record.data());
    const std::span<std::byte> body = record.subspan(kRecordHeader);
    if (header.type == RecordType::sample) {
        Swapper swapper{body};
        for (const abi::SampleBit& field : abi::kSampleBits)
            if ((attr.sample_type & field.mask()) != 0) swap_field(field, attr, swapper);
        return;
    }
    const std::size_t trailer = std::min(sample_id_size(attr), body.size());
    const auto shape = std::ranges::find(kShapes, header.type, &Shape::type);
    Swapper swapper{body.first(body.size() - trailer)};
    if (shape != kShapes.end()) swap_shape(shape->sizes, header.misc, swapper);
    Swapper id{body.last(trailer)};
    swap_sample_id(attr.sample_type, id);
}

}  // namespace anyperf::perfdata
