// record_dump.cpp: the texts are compared with perf's by tests, so blanks follow its sources even where they look
// accidental.
#include "cli/dump/record_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "analysis/call_chain.h"
#include "cli/dump/sample_text.h"
#include "cli/dump/user_record_text.h"
#include "cli/report/record_lists.h"
#include "cli/script/side_band_text.h"

namespace anyperf::cli {

namespace {

using perfdata::Bytes;

/// trace_event() of tools/perf/util/debug.c.
void add_bytes(Bytes bytes, std::string& text) {
    constexpr std::size_t kLine = 16;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, ".\n. ... raw event: size {} bytes\n", bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += kLine) {
        const Bytes line = bytes.subspan(at, std::min(kLine, bytes.size() - at));
        fmt::format_to(out, ".  {:04x}: ", at);
        for (const std::byte each : line) fmt::format_to(out, " {:02x}", static_cast<unsigned>(each));
        text.append(3 * (kLine - line.size()), ' ');
        text += "  ";
        for (const std::byte each : line) {
            const auto character = static_cast<char>(each);
            text += character >= ' ' && character <= '~' ? character : '.';
        }
        text.append(kLine - line.size(), ' ');
        text += '\n';
    }
    text += '\n';
}

/// The count of an event when a thread ended (dump_read() of tools/perf/util/session.c).
std::string read_text(const perfdata::Record& record, const perfdata::EventInfo& event) {
    struct Line {
        std::uint64_t format;
        std::string_view title;
    };
    constexpr std::array kLines{Line{abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED"), "time enabled :"},
                                Line{abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING"), "time running :"},
                                Line{abi::read_format("PERF_FORMAT_ID"), "id           :"},
                                Line{abi::read_format("PERF_FORMAT_LOST"), "lost         :"}};
    perfdata::Cursor cursor{record.bytes.subspan(perfdata::kRecordHeader)};
    const auto pid = static_cast<std::int32_t>(cursor.u32()), tid = static_cast<std::int32_t>(cursor.u32());
    std::string text = fmt::format("PERF_RECORD_READ: {} {} {} {}", pid, tid, event.name, cursor.u64());
    for (const Line& line : kLines)
        if ((event.attr.read_format & line.format) != 0) text += fmt::format("\n... {} {}", line.title, cursor.u64());
    return cursor.ok() ? text : std::string{};
}

}  // namespace

RecordDump::RecordDump(const perfdata::Reader& reader, const std::string& name, const symbols::SymbolPaths& paths,
                       Output& out, perfdata::Consumer* then)
    : reader_(reader), name_(name), out_(out), then_(then), dsos_(paths), processes_(strings_, dsos_) {
    processes_.use_build_ids(reader.facts().build_ids);
}

void RecordDump::place(const perfdata::RecordPlace& place) {
    place_ = place;
    is_new_ = true;
}

/// What comes before the fields: the bytes, the CPU and the time as far as samples have them, the place, the type.
void RecordDump::add_head(std::uint32_t cpu, std::uint64_t time, bool has_time) {
    const auto head = perfdata::load<perfdata::RecordHeader>(place_.bytes.data());
    const auto out = std::back_inserter(text_);
    fmt::format_to(out, "\n{:#x}@{} [{:#x}]: event: {}\n", place_.offset, name_, place_.bytes.size(),
                   static_cast<std::uint32_t>(head.type));
    add_bytes(place_.bytes, text_);
    std::uint64_t fields = 0;
    for (const perfdata::EventInfo& each : reader_.events()) fields |= each.attr.sample_type;
    if (!has_time) text_ += "-1 ";
    if (has_time && (fields & abi::sample("PERF_SAMPLE_CPU")) != 0) fmt::format_to(out, "{} ", cpu);
    if (has_time && (fields & abi::sample("PERF_SAMPLE_TIME")) != 0) fmt::format_to(out, "{} ", time);
    fmt::format_to(out, "{:#x} [{:#x}]: ", place_.offset, place_.bytes.size());
}

void RecordDump::sample(const perfdata::Sample& sample, std::size_t event) {
    text_.clear();
    if (std::exchange(is_new_, false)) {
        add_head(sample.cpu, sample.time, true);
        add_sample_text(sample, reader_.events()[event].attr, place_.bytes, text_);
    }
    add_task(sample);
    out_.print(text_);
    if (then_) then_->sample(sample, event);
}

/// The thread, and the file that the address is in (machine__resolve() of tools/perf/util/event.c).
void RecordDump::add_task(const perfdata::Sample& sample) {
    const analysis::RawFrame::Mode mode = analysis::mode_of(sample.misc);
    const symbols::AddressSpace& space =
        mode == analysis::RawFrame::user ? processes_[processes_.space(sample.pid)] : processes_.kernel();
    const symbols::Map* map = mode == analysis::RawFrame::other ? nullptr : space.find(sample.ip);
    fmt::format_to(std::back_inserter(text_), " ... thread: {}:{}\n ...... dso: {}\n",
                   strings_[processes_.comm(sample.tid)], static_cast<std::int32_t>(sample.tid),
                   map ? map->dso->path() : "<not found>");
}

void RecordDump::record(const perfdata::Record& record) {
    processes_.follow(record);
    text_.clear();
    const bool has_time =
        !reader_.events().empty() && (reader_.events().front().attr.flags & abi::flag("sample_id_all")) != 0;
    if (std::exchange(is_new_, false)) add_head(record.cpu, record.time, has_time);
    const std::string fields = record.type == perfdata::RecordType::read
                                   ? read_text(record, reader_.events()[record.event])
                                   : side_band_text(record);
    if (fields.empty())
        fmt::format_to(std::back_inserter(text_), "PERF_RECORD_{}: unhandled!\n",
                       record_type_name(static_cast<std::uint32_t>(record.type)));
    else
        text_ += fields + "\n";
    out_.print(text_);
    if (then_) then_->record(record);
}

// perf's report has no use for lists of threads and CPUs, and says so.
void RecordDump::user_record(perfdata::RecordType type, Bytes bytes, bool foreign) {
    text_.clear();
    const bool has_time =
        !reader_.events().empty() && (reader_.events().front().attr.flags & abi::flag("sample_id_all")) != 0;
    if (std::exchange(is_new_, false)) add_head(0, 0, has_time);
    const std::string_view name = record_type_name(static_cast<std::uint32_t>(type));
    fmt::format_to(std::back_inserter(text_), "PERF_RECORD_{}{}", name, user_record_text(type, bytes, foreign));
    const bool is_list = type == perfdata::RecordType::thread_map || type == perfdata::RecordType::cpu_map;
    if (is_list && !then_) text_ += ": unhandled!\n";
    out_.print(text_);
    if (then_) then_->user_record(type, bytes, foreign);
}

}  // namespace anyperf::cli
