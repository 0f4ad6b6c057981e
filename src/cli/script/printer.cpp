// printer.cpp: text of samples. What is printed is compared with perf's output byte by byte in the tests, so widths and
// blanks follow its sources even where they look accidental.
#include "cli/script/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "abi/sample_bits.h"
#include "analysis/call_chain.h"
#include "symbols/demangle.h"

namespace anyperf::cli {

namespace {

constexpr std::size_t kBuffer = 1 << 20;
constexpr std::size_t kMostFrameBytes = 16 << 20;  // of cached frames: a JIT makes new ones for ever

using analysis::RawFrame;

}  // namespace

ScriptPrinter::ScriptPrinter(const perfdata::Reader& reader, const symbols::SymbolPaths& paths,
                             std::optional<Fields> chosen, Output& out)
    : reader_(reader), out_(out), chosen_(chosen), dsos_(paths), processes_(strings_, dsos_), unwinder_(paths) {
    processes_.use_build_ids(reader.facts().build_ids);
    buffer_.reserve(kBuffer + (64 << 10));
}

const Fields& ScriptPrinter::fields_of(std::size_t event) {
    // In pipe mode events become known while reading.
    while (fields_.size() < reader_.events().size()) {
        const perfdata::EventInfo& next = reader_.events()[fields_.size()];
        fields_.push_back(chosen_ ? *chosen_ : default_fields(next.attr));
    }
    if (name_width_ == 0)
        for (const perfdata::EventInfo& each : reader_.events()) name_width_ = std::max(name_width_, each.name.size());
    return fields_[event];
}

void ScriptPrinter::flush() {
    out_.print(buffer_);
    buffer_.clear();
}

// The widths are those of perf's print_sample_start() and process_event() (tools/perf/builtin-script.c).
void ScriptPrinter::sample(const perfdata::Sample& sample, std::size_t event) {
    const Fields& fields = fields_of(event);
    const std::uint64_t type = reader_.events()[event].attr.sample_type;
    print_head(sample, event, fields);
    if (fields.has(Field::addr)) print_number(sample.addr, 16);
    if (fields.has(Field::ip) || fields.has(Field::sym) || fields.has(Field::dso)) {
        const analysis::SpaceId space = processes_.space(sample.pid);
        if ((type & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0) {
            buffer_ += '\n';
            print_chain(sample, event, space, fields);
        } else {
            buffer_ += ' ';
            buffer_ += frame({sample.ip, space, analysis::mode_of(sample.misc), false}, fields);
        }
    }
    buffer_ += '\n';
    if (buffer_.size() > kBuffer) flush();
}

void ScriptPrinter::print_head(const perfdata::Sample& sample, std::size_t event, const Fields& fields) {
    const perfdata::EventInfo& info = reader_.events()[event];
    const auto out = std::back_inserter(buffer_);
    if (fields.has(Field::comm)) {
        const std::string_view comm = strings_[processes_.comm(sample.tid)];
        const bool chain = (info.attr.sample_type & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0 && fields.has(Field::ip);
        if (!chain && comm.size() < 16) buffer_.append(16 - comm.size(), ' ');
        buffer_ += comm;
        buffer_ += ' ';
    }
    const auto pid = static_cast<std::int32_t>(sample.pid), tid = static_cast<std::int32_t>(sample.tid);
    if (fields.has(Field::pid) && fields.has(Field::tid))
        fmt::format_to(out, "{:>5}/{:<5} ", pid, tid);
    else if (fields.has(Field::pid) || fields.has(Field::tid)) {
        if (const auto shown = fields.has(Field::pid) ? pid : tid; shown >= 0)
            print_number(static_cast<std::uint64_t>(shown), 5);
        else
            fmt::format_to(out, "{:>5}", shown);
        buffer_ += ' ';
    }
    if (fields.has(Field::cpu)) fmt::format_to(out, "[{:03}] ", static_cast<std::int32_t>(sample.cpu));
    if (fields.has(Field::time)) print_time(sample.time);
    if (fields.has(Field::period)) {
        print_number(sample.period, 10);
        buffer_ += ' ';
    }
    if (fields.has(Field::event)) {
        buffer_.append(name_width_ - std::min(name_width_, info.name.size()), ' ');
        buffer_ += info.name;
        buffer_ += ": ";
    }
}

// The frames are printed as they are read. If the chain turns out to be garbage, what was printed of it is cut off
// again.
void ScriptPrinter::print_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                const Fields& fields) {
    const std::size_t begin = buffer_.size();
    const bool valid = analysis::for_each_frame(sample.call_chain, [&](RawFrame each) {
        buffer_ += '\t';
        buffer_ += frame({each.address, space, each.mode, true}, fields);
        buffer_ += '\n';
    });
    if (!valid) buffer_.resize(begin);
    if (sample.user_abi != 0 && !sample.user_stack.empty()) print_copied_stack(sample, event, space, fields);
}

void ScriptPrinter::print_copied_stack(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                       const Fields& fields) {
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwound_.clear();
    const std::uint64_t mask = reader_.events()[event].attr.sample_regs_user;
    unwinder_.unwind(processes_[space], {sample.user_abi, mask, registers_, sample.user_stack}, unwound_);
    for (const std::uint64_t address : unwound_) {
        buffer_ += '\t';
        buffer_ += frame({address, space, RawFrame::user, true}, fields);
        buffer_ += '\n';
    }
}

void ScriptPrinter::print_number(std::uint64_t number, int width) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const auto size = end - digits;
    if (size < width) buffer_.append(static_cast<std::size_t>(width - size), ' ');
    buffer_.append(digits, end);
}

/// Seconds with six decimals, "%12s: " in all.
void ScriptPrinter::print_time(std::uint64_t time_ns) {
    const std::uint64_t microseconds = time_ns / 1000;
    print_number(microseconds / 1'000'000, 5);
    char digits[9] = {'.', '0', '0', '0', '0', '0', '0', ':', ' '};
    std::uint64_t rest = microseconds % 1'000'000;
    for (std::size_t i = 6; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
    buffer_.append(digits, sizeof digits);
}

// Kernel frames are the same in all processes, so they have one key. When the cache is full all of it is dropped: a
// recording with that many different frames comes from a JIT, whose old frames do not return.
std::string_view ScriptPrinter::frame(const FrameKey& key, const Fields& fields) {
    FrameKey at = key;
    if (at.mode != RawFrame::user) at.space = 0;
    if (frame_bytes_ > kMostFrameBytes) {
        frames_.clear();
        frame_bytes_ = 0;
    }
    auto found = frames_.find(at);
    if (found == frames_.end()) {
        found = frames_.emplace(at, frame_text(at, fields)).first;
        frame_bytes_ += found->second.size() + sizeof(FrameKey) + sizeof(std::string);
    }
    return found->second;
}

std::string ScriptPrinter::frame_text(const FrameKey& key, const Fields& fields) {
    const symbols::AddressSpace& space = key.mode == RawFrame::user ? processes_[key.space] : processes_.kernel();
    const symbols::Map* map = key.mode == RawFrame::other ? nullptr : space.find(key.address);
    const std::uint64_t offset = map ? key.address - map->start + map->file_offset : key.address;
    std::string text;
    const auto out = std::back_inserter(text);
    // A user address of a call chain is printed as its offset in the file, that of a lone sample as it is.
    if (fields.has(Field::ip))
        fmt::format_to(out, "{:>16x}", key.in_chain && map && !map->dso->is_kernel() ? offset : key.address);
    if (fields.has(Field::sym)) {
        const symbols::Dso* dso = map ? &dsos_.loaded(*map->dso) : nullptr;
        const std::uint64_t address = dso ? dso->symbol_address(key.address, offset) : 0;
        const symbols::Symbol* symbol = dso ? dso->find(address) : nullptr;
        fmt::format_to(out, " {}", symbol ? symbols::demangle(dso->linkage_name(*symbol)) : "[unknown]");
        if (symbol && fields.has(Field::symoff)) fmt::format_to(out, "+0x{:x}", address - symbol->start);
    }
    if (fields.has(Field::dso)) fmt::format_to(out, " ({})", map ? map->dso->path() : "[unknown]");
    return text;
}

}  // namespace anyperf::cli
