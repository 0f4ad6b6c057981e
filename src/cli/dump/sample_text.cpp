// sample_text.cpp: the lines are those of dump_sample() (tools/perf/util/session.c), in its order.
#include "cli/dump/sample_text.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

#include "abi/sample_bits.h"
#include "cli/script/branches.h"
#include "cli/script/registers.h"
#include "cli/script/side_band_text.h"
#include "profile/memory_access.h"

namespace anyperf::cli {

namespace {

using perfdata::Numbers;
using perfdata::Sample;

/// Appends lines to `text`.
class Lines {
  public:
    Lines(const Sample& sample, const abi::Attr& attr, std::string& text) : sample_(sample), attr_(attr), text_(text) {}

    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }
    bool has(std::uint64_t field) const { return (attr_.sample_type & field) != 0; }

    void add_chain();
    void add_branches();
    void add_registers(std::string_view kind, std::uint64_t abi_value, std::uint64_t mask, const Numbers& values);
    void add_stack(perfdata::Bytes record);
    void add_numbers();
    void add_read();

  private:
    const Sample& sample_;
    const abi::Attr& attr_;
    std::string& text_;
};

void Lines::add_chain() {
    const Numbers& chain = sample_.call_chain;
    add("... FP chain: nr:{}\n", chain.size());
    for (std::size_t i = 0; i < chain.size(); ++i) add("..... {:2}: {:016x}\n", i, chain[i]);
}

void Lines::add_branches() {
    constexpr std::size_t kWords = 3;              // of a branch: from, to, flags
    constexpr std::uint64_t kCallStack = 1 << 11;  // PERF_SAMPLE_BRANCH_CALL_STACK
    const Numbers& branches = sample_.branches;
    const std::size_t count = branches.size() / kWords;
    const bool is_stack = (attr_.branch_sample_type & kCallStack) != 0;
    add("... branch {}: nr:{}\n", is_stack ? "callstack" : "stack", count + (is_stack ? 1 : 0));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t from = branches[kWords * i], to = branches[kWords * i + 1];
        if (!is_stack) {
            add("..... {:2}: {:016x} -> {:016x} {}\n", i, from, to, branch_flags_text(branches[kWords * i + 2]));
            continue;
        }
        // The innermost entry has two addresses.
        if (i == 0) add("..... {:2}: {:016x}\n", i, to);
        add("..... {:2}: {:016x}\n", i + 1, from);
    }
}

void Lines::add_registers(std::string_view kind, std::uint64_t abi_value, std::uint64_t mask, const Numbers& values) {
    constexpr std::array<std::string_view, 3> kAbis{"none", "32-bit", "64-bit"};
    if (abi_value == 0 || values.empty()) return;
    add("... {} regs: mask {:#x} ABI {}\n", kind, mask, abi_value < kAbis.size() ? kAbis[abi_value] : "unknown");
    for (std::size_t i = 0; i < values.size() && mask != 0; ++i, mask &= mask - 1)
        add(".... {:<5} {:#018x}\n", register_name(static_cast<std::size_t>(std::countr_zero(mask))), values[i]);
}

/// The offset is that of the stack's size in the record, which comes right before its bytes.
void Lines::add_stack(perfdata::Bytes record) {
    const std::size_t size = sample_.user_stack.size();
    const std::size_t offset =
        sample_.user_state.empty()
            ? 0
            : static_cast<std::size_t>(sample_.user_state.data() - record.data()) +
                  (has(abi::sample("PERF_SAMPLE_REGS_USER")) ? 8 * (1 + sample_.user_registers.size()) : 0);
    add("... ustack: size {}, offset {:#x}\n", size, offset);
}

void Lines::add_numbers() {
    if (has(abi::sample("PERF_SAMPLE_WEIGHT_STRUCT")))
        add("... weight: {},0x{:x},0x{:x}\n", sample_.weight, sample_.instruction_latency, sample_.stage_cycles);
    else if (has(abi::sample("PERF_SAMPLE_WEIGHT")))
        add("... weight: {}\n", sample_.weight);
    if (has(abi::sample("PERF_SAMPLE_DATA_SRC"))) add(" . data_src: 0x{:x}\n", sample_.data_source);
    if (has(abi::sample("PERF_SAMPLE_PHYS_ADDR"))) add(" .. phys_addr: 0x{:x}\n", sample_.physical_address);
    if (has(abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE")))
        add(" .. data page size: {}\n", profile::page_size_text(sample_.data_page_size));
    if (has(abi::sample("PERF_SAMPLE_CODE_PAGE_SIZE")))
        add(" .. code page size: {}\n", profile::page_size_text(sample_.code_page_size));
    if (has(abi::sample("PERF_SAMPLE_TRANSACTION"))) add("... transaction: {:x}\n", sample_.transaction);
}

void Lines::add_read() {
    const perfdata::ReadValues& read = sample_.read;
    const auto wants = [&](std::uint64_t mask) { return (attr_.read_format & mask) != 0; };
    add("... sample_read:\n");
    if (wants(abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED")))
        add("...... time enabled {:016x}\n", read.enabled_ns);
    if (wants(abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING")))
        add("...... time running {:016x}\n", read.running_ns);
    if (wants(abi::read_format("PERF_FORMAT_GROUP"))) add(".... group nr {}\n", read.size());
    const bool has_lost = wants(abi::read_format("PERF_FORMAT_LOST")) && read.entry_words > 1;
    for (std::size_t i = 0; i < read.size(); ++i) {
        add("..... id {:016x}, value {:016x}", read.id(i), read.value(i));
        if (has_lost) add(", lost {}", read.entries[(i + 1) * read.entry_words - 1]);
        text_ += '\n';
    }
}

}  // namespace

void add_sample_text(const Sample& sample, const abi::Attr& attr, perfdata::Bytes record, std::string& text) {
    Lines lines{sample, attr, text};
    const std::size_t period = perfdata::SampleLayout{attr}.places().period;
    const bool has_period = period != 0 && period + 8 <= record.size();
    lines.add("PERF_RECORD_SAMPLE(IP, 0x{:x}): {}/{}: {} period: {} addr: {}\n", sample.misc,
              static_cast<std::int32_t>(sample.pid), static_cast<std::int32_t>(sample.tid), hexadecimal(sample.ip),
              has_period ? perfdata::load<std::uint64_t>(&record[period]) : sample.period, hexadecimal(sample.addr));
    if (lines.has(abi::sample("PERF_SAMPLE_CALLCHAIN"))) lines.add_chain();
    if (lines.has(abi::sample("PERF_SAMPLE_BRANCH_STACK"))) lines.add_branches();
    lines.add_registers("user", sample.user_abi, attr.sample_regs_user, sample.user_registers);
    lines.add_registers("intr", sample.interrupt_abi, attr.sample_regs_intr, sample.interrupt_registers);
    if (lines.has(abi::sample("PERF_SAMPLE_STACK_USER"))) lines.add_stack(record);
    lines.add_numbers();
    if (lines.has(abi::sample("PERF_SAMPLE_READ"))) lines.add_read();
}

}  // namespace anyperf::cli
