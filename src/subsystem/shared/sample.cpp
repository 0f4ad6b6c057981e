// sample.cpp: a table of fields, one row each. The same row measures a field and writes it, to a Sink.
//
// A sample has no description of itself: a reader knows its fields from the attr and their order from the manual
// (perf_event_open(2), PERF_RECORD_SAMPLE). So order and padding must be those of the kernel's perf_output_sample(),
// byte for byte.
//
// Two passes. The size comes first, because a ring reserves room for a whole record or none. Fields of one word are
// counted by their bits; only the others are measured, by running their row on a Sink without memory. The user stack is
// sized last, although it is not the last field: it gets what the other fields leave of a record's 64 KiB.
//
// This runs on the thread that overflowed, with the event's and the ring's lock held, so it allocates nothing.
#include "subsystem/shared/sample.h"

#include <array>

#include "abi/branch_types.h"
#include "abi/records.h"
#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint32_t kSample = 9;
static_assert(abi::name_of(abi::kRecordTypes, kSample) == "PERF_RECORD_SAMPLE");
constexpr std::uint64_t kRegisterAbi64 = 2;
/// TASK_SIZE with four-level page tables, where the kernel cuts the stack as well (perf_ustack_task_size()).
constexpr std::uint64_t kUserEnd = 0x7ffffffff000;

/// What the fields of one sample are made of.
struct FieldSource {
    const EventPage& event;
    const SampleFacts& facts;
    std::size_t stack = 0;  ///< bytes of user stack, once computed
};

void put_callchain(Sink& sink, const FieldSource& from) {
    sink.word(from.facts.callchain.size());
    sink.put(from.facts.callchain.data(), from.facts.callchain.size_bytes());
}

/// The size field covers what follows it, padding included. Without data there are four bytes of padding.
void put_raw(Sink& sink, const FieldSource& from) {
    const std::size_t bytes = from.facts.raw.size();
    const std::size_t padded = ((bytes + sizeof(std::uint32_t) + 7) & ~std::size_t{7}) - sizeof(std::uint32_t);
    sink.half(static_cast<std::uint32_t>(padded));
    sink.put(from.facts.raw.data(), bytes);
    sink.zeros(padded - bytes);
}

void put_branches(Sink& sink, const FieldSource& from) {
    sink.word(from.facts.branches.size());
    if (from.event.shape.branch_sample_type & abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_HW_INDEX"))
        sink.word(~0ull);  // the first entry is the newest
    sink.put(from.facts.branches.data(), from.facts.branches.size_bytes());
    if (from.event.shape.branch_sample_type & abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_COUNTERS"))
        sink.zeros(8 * from.facts.branches.size());
}

/// The ABI, then the registers of the mask, ascending. Without registers (they were not asked for, or the thread has
/// none) the ABI is 0 and nothing follows.
void put_registers(Sink& sink, const std::uint64_t* registers, std::uint64_t mask) {
    sink.word(registers == nullptr ? 0 : kRegisterAbi64);
    if (registers == nullptr) return;
    for (; mask != 0; mask &= mask - 1) sink.word(registers[__builtin_ctzll(mask)]);
}

/// perf_output_sample_ustack(): the size that was reserved, the bytes, and how many of them are valid. A size of 0 ends
/// the field. The record's room is fixed by then, so a page that can't be read shortens `copied` only. After the first
/// gap nothing more is copied: a reader takes the first `copied` bytes as the stack. Bytes that can't be copied are
/// zeroed, so that the ring's older records don't leak into the field.
void put_stack(Sink& sink, const FieldSource& from) {
    sink.word(from.stack);
    if (from.stack == 0) return;
    const UserStack& stack = from.facts.stack;
    std::size_t copied = 0;
    sink.pieces(from.stack, [&](void* piece, std::size_t bytes, std::size_t done) {
        std::size_t part = copied == done ? stack.copy(stack.context, piece, stack.pointer + done, bytes) : 0;
        if (part > bytes) part = bytes;
        copied += part;
        __builtin_memset(static_cast<std::byte*>(piece) + part, 0, bytes - part);
    });
    sink.word(copied);
}

/// A field that is one word (`word`), or one that `put` measures and writes.
struct FieldRow {
    std::string_view name;
    std::uint64_t (*word)(const FieldSource&);
    void (*put)(Sink&, const FieldSource&) = nullptr;
};

constexpr std::array kFields{
    FieldRow{"PERF_SAMPLE_IDENTIFIER", [](const FieldSource& f) { return f.event.id; }},
    FieldRow{"PERF_SAMPLE_IP", [](const FieldSource& f) { return f.facts.ip; }},
    FieldRow{"PERF_SAMPLE_TID",
             [](const FieldSource& f) {
                 return std::uint64_t{static_cast<std::uint32_t>(f.facts.origin.tid)} << 32 |
                        static_cast<std::uint32_t>(f.facts.origin.pid);
             }},
    FieldRow{"PERF_SAMPLE_TIME", [](const FieldSource& f) { return f.facts.origin.time; }},
    FieldRow{"PERF_SAMPLE_ADDR", [](const FieldSource& f) { return f.facts.addr; }},
    FieldRow{"PERF_SAMPLE_ID", [](const FieldSource& f) { return f.event.id; }},
    FieldRow{"PERF_SAMPLE_STREAM_ID", [](const FieldSource& f) { return f.event.stream_id; }},
    FieldRow{"PERF_SAMPLE_CPU", [](const FieldSource& f) { return std::uint64_t{f.facts.origin.cpu}; }},
    FieldRow{"PERF_SAMPLE_PERIOD", [](const FieldSource& f) { return f.facts.period; }},
    FieldRow{"PERF_SAMPLE_READ", nullptr,
             [](Sink& s, const FieldSource& f) { put_read(s, f.event.shape.read_format, f.facts.read); }},
    FieldRow{"PERF_SAMPLE_CALLCHAIN", nullptr, put_callchain},
    FieldRow{"PERF_SAMPLE_RAW", nullptr, put_raw},
    FieldRow{"PERF_SAMPLE_BRANCH_STACK", nullptr, put_branches},
    FieldRow{"PERF_SAMPLE_REGS_USER", nullptr,
             [](Sink& s, const FieldSource& f) {
                 put_registers(s, f.facts.user_registers, f.event.shape.sample_regs_user);
             }},
    FieldRow{"PERF_SAMPLE_STACK_USER", nullptr, put_stack},
    FieldRow{"PERF_SAMPLE_WEIGHT", [](const FieldSource& f) { return f.facts.weight; }},
    FieldRow{"PERF_SAMPLE_WEIGHT_STRUCT", [](const FieldSource& f) { return f.facts.weight; }},
    FieldRow{"PERF_SAMPLE_DATA_SRC", [](const FieldSource& f) { return f.facts.data_source; }},
    FieldRow{"PERF_SAMPLE_TRANSACTION", [](const FieldSource& f) { return f.facts.transaction; }},
    FieldRow{"PERF_SAMPLE_REGS_INTR", nullptr,
             [](Sink& s, const FieldSource& f) {
                 put_registers(s, f.facts.interrupted_registers, f.event.shape.sample_regs_intr);
             }},
    FieldRow{"PERF_SAMPLE_PHYS_ADDR", [](const FieldSource& f) { return f.facts.physical_address; }},
    FieldRow{"PERF_SAMPLE_CGROUP", [](const FieldSource& f) { return f.facts.cgroup; }},
    FieldRow{"PERF_SAMPLE_DATA_PAGE_SIZE", [](const FieldSource& f) { return f.facts.data_page_size; }},
    FieldRow{"PERF_SAMPLE_CODE_PAGE_SIZE", [](const FieldSource& f) { return f.facts.code_page_size; }},
    FieldRow{"PERF_SAMPLE_AUX", [](const FieldSource&) { return std::uint64_t{0}; }},
};

// abi::kSampleBits lists the bits in the order of the record, which is not that of their numbers (IDENTIFIER is first).
constexpr bool in_order_of_records() {
    for (std::size_t i = 0; i < kFields.size(); ++i)
        if (kFields[i].name != abi::kSampleBits[i].name) return false;
    return kFields.size() == abi::kSampleBits.size();
}
static_assert(in_order_of_records());

constexpr std::uint64_t kStackUser = abi::sample("PERF_SAMPLE_STACK_USER");

/// The bits of sample_type whose fields are one word.
constexpr std::uint64_t kWords = [] {
    std::uint64_t words = 0;
    for (std::size_t i = 0; i < kFields.size(); ++i)
        if (kFields[i].word != nullptr) words |= abi::kSampleBits[i].mask();
    return words;
}();

void put_fields(Sink& sink, const FieldSource& from, std::uint64_t wanted) {
    for (std::size_t i = 0; i < kFields.size() && wanted != 0; ++i) {
        const std::uint64_t field = abi::kSampleBits[i].mask();
        if ((wanted & field) == 0) continue;
        wanted &= ~field;
        if (kFields[i].word != nullptr)
            sink.word(kFields[i].word(from));
        else
            kFields[i].put(sink, from);
    }
}

/// The size without the stack, whose own size depends on it. Commonly all fields are words: put_fields() then has
/// nothing to measure and returns at once.
std::size_t without_stack(const EventPage& event, const SampleFacts& facts) {
    std::size_t words = 0;
    for (std::uint64_t left = event.shape.sample_type & kWords; left != 0; left &= left - 1) ++words;
    Sink measure;
    put_fields(measure, {event, facts}, event.shape.sample_type & ~kWords & ~kStackUser);
    return sizeof(RecordHeader) + sizeof(std::uint64_t) * words + measure.size();
}

/// Bytes of user stack in this sample. They depend on the size of everything else: a record has 64 KiB at most
/// (perf_sample_ustack_size()).
std::size_t stack_of(const EventPage& event, const SampleFacts& facts, std::size_t others) {
    if (!(event.shape.sample_type & kStackUser) || facts.stack.copy == nullptr) return 0;
    return stack_bytes(event.shape.sample_stack_user, others, facts.stack.pointer);
}

std::size_t whole(const EventPage& event, std::size_t others, std::size_t stack) {
    if (!(event.shape.sample_type & kStackUser)) return others;
    return others + 8 + (stack == 0 ? 0 : stack + 8);
}

}  // namespace

std::size_t stack_bytes(std::size_t asked, std::size_t others, std::uint64_t pointer) {
    const std::uint64_t until_end = pointer < kUserEnd ? (kUserEnd - pointer) & ~7ull : 0;
    if (asked > until_end) asked = static_cast<std::size_t>(until_end);
    // 16: the words before and after the stack.
    const std::size_t with_sizes = others + 16;
    if (with_sizes > kLongestRecord) return 0;
    return asked < kLongestRecord - with_sizes ? asked : kLongestRecord - with_sizes;
}

std::size_t sample_bytes(const EventPage& event, const SampleFacts& facts) {
    const std::size_t others = without_stack(event, facts);
    return whole(event, others, stack_of(event, facts, others));
}

WriteResult write_sample(Ring ring, EventPage& event, const SampleFacts& facts) {
    const std::size_t others = without_stack(event, facts);
    const std::size_t stack = stack_of(event, facts, others);
    const std::size_t size = whole(event, others, stack);
    RingWriter writer{ring, event, facts.origin};
    if (!writer.begin(size)) return {};
    const RecordHeader header{kSample, facts.misc, static_cast<std::uint16_t>(size)};
    writer.sink().word(__builtin_bit_cast(std::uint64_t, header));
    put_fields(writer.sink(), {event, facts, stack}, event.shape.sample_type);
    return writer.commit(true);
}

}  // namespace anyperf::subsystem
