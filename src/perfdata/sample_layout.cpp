#include "perfdata/sample_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "abi/attr_flags.h"
#include "abi/branch_types.h"
#include "abi/sample_bits.h"

namespace anyperf::perfdata {

namespace {

using abi::sample;

// Bits of branch_sample_type that add to the record (perf_event_open(2), PERF_SAMPLE_BRANCH_HW_INDEX; COUNTERS:
// Linux 6.8).
constexpr std::uint64_t kBranchHwIndex = 1 << 17, kBranchCounters = 1 << 19;

constexpr std::uint64_t kFixedFields =
    sample("PERF_SAMPLE_IDENTIFIER") | sample("PERF_SAMPLE_IP") | sample("PERF_SAMPLE_TID") |
    sample("PERF_SAMPLE_TIME") | sample("PERF_SAMPLE_ADDR") | sample("PERF_SAMPLE_ID") |
    sample("PERF_SAMPLE_STREAM_ID") | sample("PERF_SAMPLE_CPU") | sample("PERF_SAMPLE_PERIOD");

Numbers take_numbers(Cursor& cursor, std::uint64_t count) {
    count = cursor.count(count, sizeof(std::uint64_t));
    return {cursor.bytes(count * sizeof(std::uint64_t)).data(), count};
}

/// REGS_USER or REGS_INTR: the ABI, then one word for each bit of `mask`. A task without user registers, such as a
/// kernel thread, has ABI 0 (PERF_SAMPLE_REGS_ABI_NONE) and no words.
Numbers take_registers(Cursor& cursor, std::uint64_t& abi_value, std::uint64_t mask) {
    abi_value = cursor.u64();
    return abi_value == 0 ? Numbers{} : take_numbers(cursor, static_cast<std::uint64_t>(std::popcount(mask)));
}

/// STACK_USER: the size, that many bytes, and how many of them are valid. The kernel takes the configured size if the
/// record has room for it. Bytes beyond the stack's end are what the ring had there before
/// (perf_output_sample_ustack()), so only the valid bytes are shown.
Bytes take_stack(Cursor& cursor) {
    const std::uint64_t size = cursor.u64();
    if (size == 0) return {};
    const Bytes copied = cursor.bytes(size);
    const std::uint64_t valid = cursor.u64();
    return copied.first(std::min<std::uint64_t>(valid, copied.size()));
}

}  // namespace

SampleLayout::SampleLayout(const abi::Attr& attr)
    : sample_type_(attr.sample_type),
      read_format_(attr.read_format),
      branch_type_(attr.branch_sample_type),
      user_registers_(attr.sample_regs_user),
      interrupt_registers_(attr.sample_regs_intr),
      // With a frequency and without PERIOD the period is unknown: a sample then counts as one.
      period_value_((attr.flags & abi::flag("freq")) != 0 ? 1 : attr.sample_period),
      only_fixed_((attr.sample_type & ~kFixedFields) == 0),
      only_chain_((attr.sample_type & ~kFixedFields) == sample("PERF_SAMPLE_CALLCHAIN")),
      may_be_cut_((attr.sample_type & (sample("PERF_SAMPLE_READ") | sample("PERF_SAMPLE_RAW"))) == 0) {
    lay_out_sample();
    lay_out_trailer(attr.flags);
}

// IDENTIFIER and ID are the same number at two places. If a sample has both, IDENTIFIER is used: its place is the same
// for all events.
void SampleLayout::lay_out_sample() {
    std::size_t end = kRecordHeader;
    const auto place = [&](std::uint64_t mask, std::size_t& position) {
        if (!has(mask)) return;
        position = end;
        end += 8;
    };
    std::size_t identifier = 0;
    place(sample("PERF_SAMPLE_IDENTIFIER"), identifier);
    place(sample("PERF_SAMPLE_IP"), ip_);
    place(sample("PERF_SAMPLE_TID"), tid_);
    place(sample("PERF_SAMPLE_TIME"), time_);
    place(sample("PERF_SAMPLE_ADDR"), addr_);
    place(sample("PERF_SAMPLE_ID"), id_);
    place(sample("PERF_SAMPLE_STREAM_ID"), stream_id_);
    place(sample("PERF_SAMPLE_CPU"), cpu_);
    place(sample("PERF_SAMPLE_PERIOD"), period_);
    if (identifier != 0) id_ = identifier;
    fixed_size_ = end;
}

// From the end backwards, so the order is the reverse of perf_event__output_id_sample().
void SampleLayout::lay_out_trailer(std::uint64_t flags) {
    if ((flags & abi::flag("sample_id_all")) == 0) return;
    std::size_t back = 0;
    const auto place = [&](std::uint64_t mask, std::size_t& position) {
        if (!has(mask)) return;
        back += 8;
        position = back;
    };
    std::size_t unused = 0, id = 0;
    place(sample("PERF_SAMPLE_IDENTIFIER"), trailer_id_);
    place(sample("PERF_SAMPLE_CPU"), trailer_cpu_);
    place(sample("PERF_SAMPLE_STREAM_ID"), unused);
    place(sample("PERF_SAMPLE_ID"), id);
    place(sample("PERF_SAMPLE_TIME"), trailer_time_);
    place(sample("PERF_SAMPLE_TID"), trailer_task_);
    if (trailer_id_ == 0) trailer_id_ = id;
    trailer_size_ = back;
}

// The fields up to PERIOD have the same place in every sample of an event, so they are loaded by position. Only what
// comes after them has to be read one after the other (decode_rest()).
bool SampleLayout::decode(Bytes record, Sample& sample) const {
    return decode_few_fields(record, sample) && (only_fixed_ || decode_rest(record, sample));
}

// Most samples have a chain or nothing.
bool SampleLayout::is_whole(Bytes record, Sample& scratch) const {
    if (only_fixed_) return record.size() >= fixed_size_;
    if (!only_chain_) return decode(record, scratch);
    const std::size_t chain = fixed_size_ + 8;
    return record.size() >= chain && load<std::uint64_t>(&record[fixed_size_]) <= (record.size() - chain) / 8;
}

Bytes SampleLayout::cut(Bytes record, std::span<std::byte, kMostFewFields> to) const {
    std::memcpy(to.data(), record.data(), fixed_size_);
    const auto size = static_cast<std::uint16_t>(fixed_size_);
    std::memcpy(&to[6], &size, sizeof size);
    return to.first(fixed_size_);
}

bool SampleLayout::decode_few_fields(Bytes record, Sample& sample) const {
    if (record.size() < fixed_size_) return false;
    sample = {};
    const std::byte* bytes = record.data();
    const auto number = [&](std::size_t position) {
        return position != 0 ? load<std::uint64_t>(bytes + position) : std::uint64_t{0};
    };
    sample.misc = load<std::uint16_t>(bytes + 4);
    sample.ip = number(ip_);
    sample.time = number(time_);
    sample.addr = number(addr_);
    sample.id = number(id_);
    sample.stream_id = number(stream_id_);
    sample.period = period_ != 0 ? number(period_) : period_value_;
    sample.pid = tid_ != 0 ? load<std::uint32_t>(bytes + tid_) : ~0u;
    sample.tid = tid_ != 0 ? load<std::uint32_t>(bytes + tid_ + 4) : ~0u;
    sample.cpu = cpu_ != 0 ? load<std::uint32_t>(bytes + cpu_) : ~0u;
    return true;
}

namespace {

/// union perf_sample_weight: 32 bits of the weight itself, then two times 16 bits.
void split_weight(Sample& sample) {
    sample.instruction_latency = static_cast<std::uint16_t>(sample.weight >> 32);
    sample.stage_cycles = static_cast<std::uint16_t>(sample.weight >> 48);
    sample.weight &= 0xffff'ffff;
}

}  // namespace

// The order is that of perf_output_sample() in the kernel, not that of the bits.
bool SampleLayout::decode_rest(Bytes record, Sample& sample) const {
    Cursor cursor{record.subspan(fixed_size_)};
    const auto number = [&](std::uint64_t mask, std::uint64_t& value) { value = has(mask) ? cursor.u64() : 0; };
    if (has(abi::sample("PERF_SAMPLE_READ"))) decode_read(cursor, sample.read);
    sample.call_chain = has(abi::sample("PERF_SAMPLE_CALLCHAIN")) ? take_numbers(cursor, cursor.u64()) : Numbers{};
    sample.raw = has(abi::sample("PERF_SAMPLE_RAW")) ? cursor.bytes(cursor.u32()) : Bytes{};
    if (has(abi::sample("PERF_SAMPLE_BRANCH_STACK"))) decode_branches(cursor, sample);
    sample.user_abi = 0;
    sample.user_registers = {};
    const std::size_t state = record.size() - cursor.left();
    if (has(abi::sample("PERF_SAMPLE_REGS_USER")))
        sample.user_registers = take_registers(cursor, sample.user_abi, user_registers_);
    sample.user_stack = has(abi::sample("PERF_SAMPLE_STACK_USER")) ? take_stack(cursor) : Bytes{};
    sample.user_state = record.subspan(state, record.size() - cursor.left() - state);
    number(abi::sample("PERF_SAMPLE_WEIGHT") | abi::sample("PERF_SAMPLE_WEIGHT_STRUCT"), sample.weight);
    if (has(abi::sample("PERF_SAMPLE_WEIGHT_STRUCT"))) split_weight(sample);
    number(abi::sample("PERF_SAMPLE_DATA_SRC"), sample.data_source);
    number(abi::sample("PERF_SAMPLE_TRANSACTION"), sample.transaction);
    if (has(abi::sample("PERF_SAMPLE_REGS_INTR")))
        sample.interrupt_registers = take_registers(cursor, sample.interrupt_abi, interrupt_registers_);
    number(abi::sample("PERF_SAMPLE_PHYS_ADDR"), sample.physical_address);
    number(abi::sample("PERF_SAMPLE_CGROUP"), sample.cgroup);
    number(abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE"), sample.data_page_size);
    number(abi::sample("PERF_SAMPLE_CODE_PAGE_SIZE"), sample.code_page_size);
    sample.aux = has(abi::sample("PERF_SAMPLE_AUX")) ? cursor.bytes(cursor.u64()) : Bytes{};
    return cursor.ok();
}

// PERF_SAMPLE_READ has the layout of read(2) with attr.read_format. A group's values are {value, id, lost} for each
// member, of which the format chooses the last two.
void SampleLayout::decode_read(Cursor& cursor, ReadValues& read) const {
    const auto wants = [&](std::uint64_t mask) { return (read_format_ & mask) != 0; };
    const bool group = wants(abi::read_format("PERF_FORMAT_GROUP"));
    read.has_id = wants(abi::read_format("PERF_FORMAT_ID"));
    read.entry_words = 1u + read.has_id + wants(abi::read_format("PERF_FORMAT_LOST"));
    const std::uint64_t count = group ? cursor.u64() : 1;
    const auto times = [&] {
        read.enabled_ns = wants(abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED")) ? cursor.u64() : 0;
        read.running_ns = wants(abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING")) ? cursor.u64() : 0;
    };
    if (group) {
        times();
        read.entries = take_numbers(cursor, cursor.count(count, read.entry_words * 8) * read.entry_words);
        return;
    }
    // Of a single event the value comes before the times, and its id after them: the view has the value only.
    read.entries = take_numbers(cursor, 1);
    read.entry_words = 1;
    times();
    if (read.has_id) read.single_id = cursor.u64();
    read.has_id = false;
    if (wants(abi::read_format("PERF_FORMAT_LOST"))) cursor.u64();
}

// The counters of Linux 6.8, one word for each entry, are skipped: no report shows them.
void SampleLayout::decode_branches(Cursor& cursor, Sample& sample) const {
    constexpr std::size_t kEntryWords = 3;
    const std::uint64_t count = cursor.u64();
    sample.branch_hw_index = (branch_type_ & kBranchHwIndex) != 0 ? cursor.u64() : 0;
    const std::uint64_t entries = cursor.count(count, kEntryWords * 8);
    sample.branches = take_numbers(cursor, entries * kEntryWords);
    if ((branch_type_ & kBranchCounters) != 0) take_numbers(cursor, entries);
}

}  // namespace anyperf::perfdata
