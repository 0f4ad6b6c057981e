// printer.cpp: text of samples, as perf prints it (frame_writer.cpp).
//
// A recording has millions of samples, and neighbours are alike. So three texts are kept and copied instead of made:
// - that of the task (task_text_), until another task has a sample;
// - those of frames, by address (FrameWriter);
// - the outer frames of the last chain: most chains differ from the one before only in their inner frames. Their
//   text is still in the buffer.
#include "cli/script/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include "abi/sample_bits.h"
#include "analysis/call_chain.h"
#include "analysis/recorded_names.h"
#include "cli/script/branches.h"
#include "cli/script/hexadecimal.h"
#include "cli/script/registers.h"
#include "profile/memory_access.h"

namespace anyperf::cli {

namespace {

constexpr std::size_t kBuffer = 256 << 10;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kFlagsWidth = 24;  // of what only decoded hardware traces have (perf_sample__fprintf_flags())

/// "00" to "99".
constexpr std::array kPairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i)
        pairs[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
    return pairs;
}();

using analysis::RawFrame;

}  // namespace

ScriptPrinter::ScriptPrinter(const perfdata::Reader& reader, const symbols::SymbolPaths& paths, Options options,
                             Output& out)
    : reader_(reader),
      out_(out),
      options_(std::move(options)),
      dsos_(paths),
      processes_(strings_, dsos_),
      jit_codes_(reader, processes_, dsos_),
      admission_(options_.filters, processes_, strings_, dsos_),
      traces_(reader, processes_, dsos_),
      unwinder_(paths),
      frames_(processes_, dsos_, options_.frames) {
    processes_.use_build_ids(reader.facts().build_ids);
    analysis::use_recorded_names(reader.facts(), dsos_);
    buffer_.reserve(kBuffer + (64 << 10));
}

// The names are padded to the longest one, which is determined when the first sample is printed.
const Fields& ScriptPrinter::fields_of(std::size_t event) {
    // In pipe mode events become known while reading.
    while (fields_.size() < reader_.events().size()) {
        const perfdata::EventInfo& next = reader_.events()[fields_.size()];
        fields_.push_back(options_.chosen ? options_.chosen->of(next.attr) : default_fields(next.attr));
    }
    if (name_width_ == 0)
        for (const perfdata::EventInfo& each : reader_.events()) name_width_ = std::max(name_width_, each.name.size());
    return fields_[event];
}

// simpleperf has the kernel's symbols before the samples. What comes later, in recordings of its first versions, is not
// waited for.
void ScriptPrinter::user_record(perfdata::RecordType type, perfdata::Bytes, bool) {
    event_text_.clear();  // the record may name an event
    using enum perfdata::RecordType;
    if (type == finished_round && options_.records.rounds) {
        begin_lines({});
        buffer_ += "PERF_RECORD_FINISHED_ROUND\n";
    }
    if (type == simpleperf_kernel_symbols || type == simpleperf_split_end)
        analysis::use_recorded_names(reader_.facts(), dsos_);
}

void ScriptPrinter::flush() {
    if (buffer_event_)
        options_.files->write(*buffer_event_, reader_.events()[*buffer_event_].name, buffer_, buffer_samples_);
    else
        out_.print(buffer_);
    buffer_.clear();
    buffer_samples_ = 0;
    last_chain_.words.clear();
}

/// With a file for each event the buffer has lines of one only.
void ScriptPrinter::begin_lines(std::optional<std::size_t> of_event) {
    if (!options_.files || of_event == buffer_event_) return;
    flush();
    buffer_event_ = of_event;
}

void ScriptPrinter::note_lost_files() {
    for (const auto& [key, dso] : dsos_.all())
        if (dso->lost_its_file()) out_.note(fmt::format("anyperf: frames without names: {}\n", dso->why_no_symbols()));
}

// An exit ends a name, so it is printed with the name that it ends; other records are printed with what they change.
void ScriptPrinter::record(const perfdata::Record& record) {
    const bool shown = options_.records.has(record.type) && admission_.admits_cpu(record.cpu);
    if (shown && record.type == perfdata::RecordType::exit) print_record(record);
    processes_.follow(record);
    jit_codes_.follow(record);
    last_chain_.words.clear();  // a map may have been added
    if (shown && record.type != perfdata::RecordType::exit) print_record(record);
}

void ScriptPrinter::print_record(const perfdata::Record& record) {
    perfdata::Sample sample;
    sample.pid = record.pid;
    sample.tid = record.tid;
    sample.cpu = record.cpu;
    sample.time = record.time;
    sample.misc = record.misc;
    const Fields& fields = fields_of(record.event);
    begin_lines({});
    make_task_text(sample, tid_of(record), has_chain(record.event), fields);
    print_task_and_time(sample, fields);
    task_text_.clear();  // the next sample may have the same task, but its own name
    buffer_ += side_band_text(record);
    buffer_ += '\n';
    if (buffer_.size() > (options_.buffered ? kBuffer : 0)) flush();
}

/// Whether the samples of an event are printed with their call chains.
bool ScriptPrinter::has_chain(std::size_t event) const {
    return options_.call_chains &&
           (reader_.events()[event].attr.sample_type & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0;
}

// The widths are those of perf's print_sample_start() and process_event() (tools/perf/builtin-script.c).
void ScriptPrinter::sample(const perfdata::Sample& recorded, std::size_t event) {
    const perfdata::Sample& sample = jit_codes_.replaced(recorded);
    if (!admission_.admits(sample)) return;
    const Fields& fields = fields_of(event);
    if (fields.empty()) return;
    begin_lines(event);
    ++buffer_samples_;
    print_head(sample, event, fields);
    const auto out = std::back_inserter(buffer_);
    if (fields.has(Field::trace)) traces_.append(sample, event, buffer_);
    if (fields.has(Field::flags)) buffer_.append(kFlagsWidth, ' ');
    if (fields.has(Field::addr)) fmt::format_to(out, "{:>16x}", sample.addr);
    if (fields.has(Field::data_src)) print_data_source(sample.data_source);
    if (fields.has(Field::weight)) fmt::format_to(out, "{:>16}", sample.weight);
    if (fields.has(Field::ins_lat)) fmt::format_to(out, "{:>16}", sample.instruction_latency);
    // Without an address of its own the file may be that of the branches.
    const bool of_branches =
        fields.has(Field::brstack) || fields.has(Field::brstacksym) || fields.has(Field::brstackoff);
    if (fields.has(Field::ip) || fields.has(Field::sym) || (fields.has(Field::dso) && !of_branches)) {
        const analysis::SpaceId space = task_space_;
        if (has_chain(event)) {
            buffer_ += '\n';
            print_chain(sample, event, space, fields);
        } else {
            buffer_ += ' ';
            const std::size_t begin = buffer_.size();
            frames_.append({sample.ip, space, analysis::mode_of(sample.misc), false, false}, fields, buffer_);
            if (sample.ip != recorded.ip && fields.has(Field::ip)) write_column(recorded.ip, &buffer_[begin]);
        }
    }
    if (fields.has(Field::iregs) || fields.has(Field::uregs)) print_registers(sample, event, fields);
    for (const Field form : {Field::brstack, Field::brstacksym, Field::brstackoff})
        if (fields.has(form)) print_branches(recorded, fields, form);
    if (fields.has(Field::insn) || fields.has(Field::insnlen)) print_instruction(recorded, fields);
    if (fields.has(Field::phys_addr)) fmt::format_to(out, "{:>16x}", sample.physical_address);
    if (fields.has(Field::data_page_size)) buffer_ += ' ' + profile::page_size_text(sample.data_page_size);
    if (fields.has(Field::code_page_size)) buffer_ += ' ' + profile::page_size_text(sample.code_page_size);
    buffer_ += '\n';
    if (buffer_.size() > (options_.buffered ? kBuffer : 0)) flush();
}

/// As perf's perf_sample__fprintf_insn(), where the code is in a file.
void ScriptPrinter::print_instruction(const perfdata::Sample& sample, const Fields& fields) {
    const symbols::Bytes code =
        frames_.instruction({sample.ip, task_space_, analysis::mode_of(sample.misc), false, false});
    const auto out = std::back_inserter(buffer_);
    if (fields.has(Field::insnlen)) fmt::format_to(out, " ilen: {}", code.size());
    if (!fields.has(Field::insn) || code.empty()) return;
    buffer_ += " insn:";
    for (const std::byte each : code) fmt::format_to(out, " {:02x}", std::to_integer<unsigned>(each));
}

/// In a column as wide as the widest so far, as in perf (data_src__fprintf()).
void ScriptPrinter::print_data_source(std::uint64_t data_source) {
    const std::string text = fmt::format("{:>16x} {}", data_source, profile::data_source_text(data_source));
    data_source_width_ = std::max(data_source_width_, text.size());
    buffer_ += text;
    buffer_.append(data_source_width_ - text.size(), ' ');
}

/// What lines of samples and of other records begin with.
void ScriptPrinter::print_task_and_time(const perfdata::Sample& sample, const Fields& fields) {
    buffer_ += task_text_;
    if (fields.has(Field::cpu))
        fmt::format_to(std::back_inserter(buffer_), "[{:03}] ", static_cast<std::int32_t>(sample.cpu));
    if (fields.has(Field::misc)) print_mode(sample.misc);
    if (fields.has(Field::tod)) print_time_of_day(sample.time);
    if (fields.has(Field::time)) print_time(sample.time);
}

void ScriptPrinter::print_head(const perfdata::Sample& sample, std::size_t event, const Fields& fields) {
    const TaskKey task{sample.pid, sample.tid, event, processes_.version()};
    if (task != task_key_ || task_text_.empty()) {
        task_key_ = task;
        task_space_ = processes_.space(sample.pid);
        make_task_text(sample, sample.tid, has_chain(event), fields);
    }
    print_task_and_time(sample, fields);
    if (sample.period != event_period_ || event != text_event_ || event_text_.empty()) {
        event_period_ = sample.period;
        text_event_ = event;
        make_event_text(sample.period, event, fields);
    }
    buffer_ += event_text_;
}

/// With a clock or a fixed period all samples of an event have the same.
void ScriptPrinter::make_event_text(std::uint64_t period, std::size_t event, const Fields& fields) {
    event_text_.clear();
    if (fields.has(Field::period)) {
        append_number(period, 10, event_text_);
        event_text_ += ' ';
    }
    if (fields.has(Field::event)) {
        const std::string& name = reader_.events()[event].name;
        event_text_.append(name_width_ - std::min(name_width_, name.size()), ' ');
        event_text_ += name;
        event_text_ += ": ";
    }
}

/// A letter for each mode whose bits are in the header, as in perf: a hypervisor's bits are those of kernel and user.
void ScriptPrinter::print_mode(std::uint16_t misc) {
    constexpr std::string_view kLetters = "KUHGg";
    constexpr std::size_t kWidth = 6;
    std::string text;
    for (std::size_t mode = 1; mode <= kLetters.size(); ++mode)
        if ((misc & mode) == mode) text += kLetters[mode - 1];
    buffer_ += text;
    buffer_.append(kWidth - text.size(), ' ');
}

/// The command of the task `named`, and the numbers of a sample's task. Most samples have those of the one before.
void ScriptPrinter::make_task_text(const perfdata::Sample& sample, std::uint32_t named, bool chain,
                                   const Fields& fields) {
    task_text_.clear();
    const auto out = std::back_inserter(task_text_);
    if (fields.has(Field::comm)) {
        const std::string_view comm = strings_[processes_.comm(named)];
        if (!(chain && fields.has(Field::ip)) && comm.size() < 16) task_text_.append(16 - comm.size(), ' ');
        task_text_ += comm;
        task_text_ += ' ';
    }
    const auto pid = static_cast<std::int32_t>(sample.pid), tid = static_cast<std::int32_t>(sample.tid);
    if (fields.has(Field::pid) && fields.has(Field::tid))
        fmt::format_to(out, "{:>5}/{:<5} ", pid, tid);
    else if (fields.has(Field::pid) || fields.has(Field::tid))
        fmt::format_to(out, "{:>5} ", fields.has(Field::pid) ? pid : tid);
}

// The frames are printed as they are read. If the chain turns out to be garbage, what was printed of it is cut off
// again.
void ScriptPrinter::print_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                const Fields& fields) {
    const std::size_t begin = buffer_.size();
    const std::uint64_t branches = reader_.events()[event].attr.branch_sample_type;
    bool valid = true;
    if (sample.branches.empty()) {
        valid = print_plain_chain(sample, event, space, fields);
    } else {
        bool caller = false;
        std::size_t left = options_.most_frames;
        valid = analysis::for_each_frame(sample, branches, [&](RawFrame each) {
            if (left == 0) return;
            const FrameKey frame{each.address, space, each.mode, true, std::exchange(caller, true)};
            frames_.append(frame, fields, buffer_);
            left = ends_with(frame) ? 0 : left - 1;
        });
    }
    if (!valid) buffer_.resize(begin);
    if (sample.user_abi != 0 && !sample.user_stack.empty()) print_copied_stack(sample, event, space, fields);
}

/// Whether the frame is the last one of its chain that is printed.
bool ScriptPrinter::ends_with(const FrameKey& frame) {
    const std::vector<std::string>& last = options_.last_functions;
    return !last.empty() && std::ranges::find(last, frames_.function(frame)) != last.end();
}

/// How many of the outermost words are those of the last chain.
std::size_t ScriptPrinter::common_end(const perfdata::Numbers& chain) const {
    const std::size_t ours = chain.size(), theirs = last_chain_.words.size();
    const std::size_t most = std::min(ours, theirs);
    std::size_t same = 0;
    while (same < most && chain[ours - 1 - same] == last_chain_.words[theirs - 1 - same].word) ++same;
    return same;
}

/// A chain without branches. Its outer frames are mostly those of the chain before, whose text is copied. The copy
/// begins where both chains have the same mode, and frames before, since these decide the text.
bool ScriptPrinter::print_plain_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                      const Fields& fields) {
    if (last_chain_.space != space || last_chain_.event != event) last_chain_.words.clear();
    const perfdata::Numbers& chain = sample.call_chain;
    const bool whole = options_.most_frames == kAllFrames && options_.last_functions.empty();
    const std::size_t same = whole ? common_end(chain) : 0;
    const std::size_t last_offset = last_chain_.words.size() - chain.size();  // may wrap around
    announce_frames(chain, chain.size() - same, space);
    PrintedChain& now = this_chain_;
    now.words.clear();
    RawFrame::Mode mode = RawFrame::user;
    bool caller = false, valid = true, ended = false;
    std::size_t frames = 0;
    for (std::size_t i = 0; i < chain.size() && valid && !ended; ++i) {
        if (caller && i >= chain.size() - same) {
            const std::size_t there = i + last_offset;
            const PrintedChain::Word& known = last_chain_.words[there];
            if (known.caller && known.mode == mode) {
                copy_end_of_last_chain(there);
                break;
            }
        }
        now.words.push_back(
            {chain[i], static_cast<std::uint32_t>(buffer_.size()), static_cast<std::uint8_t>(mode), caller});
        switch (analysis::chain_word(chain[i], mode)) {
            case analysis::ChainWord::frame:
                ended = frames == options_.most_frames;
                if (ended) break;
                if (frames < frames_.announced())
                    frames_.append_announced(frames, fields, buffer_);
                else
                    frames_.append({chain[i], space, mode, true, caller}, fields, buffer_);
                ended = ends_with({chain[i], space, mode, true, caller});
                caller = true;
                ++frames;
                break;
            case analysis::ChainWord::marker: break;
            case analysis::ChainWord::end: ended = true; break;
            case analysis::ChainWord::unknown: valid = false; break;
        }
    }
    // Of a chain that ended early not all words were looked at.
    if (!valid || ended) now.words.clear();
    now.space = space;
    now.event = event;
    now.end = buffer_.size();
    std::swap(last_chain_, this_chain_);
    return valid;
}

/// Frames of the first words, which are not those of the last chain, are looked up together.
void ScriptPrinter::announce_frames(const perfdata::Numbers& chain, std::size_t words, analysis::SpaceId space) {
    RawFrame::Mode mode = RawFrame::user;
    bool caller = false;
    frames_.begin_announcing();
    for (std::size_t i = 0; i < words; ++i)
        if (analysis::chain_word(chain[i], mode) == analysis::ChainWord::frame)
            frames_.announce({chain[i], space, mode, true, std::exchange(caller, true)});
    frames_.look_up_announced();
}

/// Prints what was printed of the last chain's words from `from` on.
void ScriptPrinter::copy_end_of_last_chain(std::size_t from) {
    const std::size_t begin = last_chain_.words[from].text;
    const auto moved = static_cast<std::uint32_t>(buffer_.size() - begin);
    for (std::size_t i = from; i < last_chain_.words.size(); ++i) {
        this_chain_.words.push_back(last_chain_.words[i]);
        this_chain_.words.back().text += moved;
    }
    buffer_.append(buffer_, begin, last_chain_.end - begin);
}

// The unwinder has already moved return addresses back into the call, so these frames are not marked as callers.
void ScriptPrinter::print_copied_stack(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                       const Fields& fields) {
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwound_.clear();
    const std::uint64_t mask = reader_.events()[event].attr.sample_regs_user;
    if (analysis::has_x86_registers(reader_.facts()))
        unwinder_.unwind(processes_[space], {sample.user_abi, mask, registers_, sample.user_stack}, unwound_);
    else if (analysis::mode_of(sample.misc) == RawFrame::user)
        unwound_.push_back(sample.ip);
    if (unwound_.size() > options_.most_frames) unwound_.resize(options_.most_frames);
    for (const std::uint64_t address : unwound_) {
        const FrameKey frame{jit_codes_.replaced(address), space, RawFrame::user, true, false};
        frames_.append(frame, fields, buffer_);
        if (ends_with(frame)) break;
    }
}

void ScriptPrinter::print_registers(const perfdata::Sample& sample, std::size_t event, const Fields& fields) {
    const abi::Attr& attr = reader_.events()[event].attr;
    const bool x86 = analysis::has_x86_registers(reader_.facts());
    if (fields.has(Field::iregs))
        append_registers(sample.interrupt_abi, attr.sample_regs_intr, sample.interrupt_registers, x86, buffer_);
    if (fields.has(Field::uregs))
        append_registers(sample.user_abi, attr.sample_regs_user, sample.user_registers, x86, buffer_);
}

// Addresses are those of the process; with `dso` each has its file. Before a name perf has no blank.
void ScriptPrinter::print_branches(const perfdata::Sample& sample, const Fields& fields, Field form) {
    const analysis::SpaceId space = processes_.space(sample.pid);
    append_branches(
        sample.branches,
        [&](std::uint64_t address, bool is_source, std::string& text) {
            const FramePlace place = frames_.place(address, space);
            if (form == Field::brstacksym)
                text += place.name;
            else
                fmt::format_to(std::back_inserter(text), "{}0x{:x}", is_source ? " " : "",
                               form == Field::brstackoff ? place.offset : address);
            if (fields.has(Field::dso)) fmt::format_to(std::back_inserter(text), "({})", place.file);
        },
        buffer_);
}

void ScriptPrinter::append_number(std::uint64_t number, std::size_t width, std::string& to) {
    constexpr std::size_t kMostDigits = 20;
    char text[2 * kMostDigits];
    std::memset(text, ' ', kMostDigits);
    const char* end = std::to_chars(text + kMostDigits, text + sizeof text, number).ptr;
    const auto size = static_cast<std::size_t>(end - text) - kMostDigits;
    const std::size_t shown = std::max(size, width);
    to.append(end - shown, shown);
}

/// The wall clock in the zone of this process, as in perf (tod_scnprintf()).
void ScriptPrinter::print_time_of_day(std::uint64_t time_ns) {
    const perfdata::Facts& facts = reader_.facts();
    const std::uint64_t now = facts.wall_clock_ns + (time_ns - facts.clock_ns);
    const auto seconds = static_cast<std::time_t>(now / kSecond);
    std::tm parts{};
    char text[32] = {};
    if (::localtime_r(&seconds, &parts)) std::strftime(text, sizeof text, "%F %H:%M:%S", &parts);
    if (options_.nanoseconds)
        fmt::format_to(std::back_inserter(buffer_), "{}.{:09} ", text, now % kSecond);
    else
        fmt::format_to(std::back_inserter(buffer_), "{}.{:06} ", text, now % kSecond / 1000);
}

/// Seconds with six or nine decimals, "%12s: " or "%16s: " in all.
void ScriptPrinter::print_time(std::uint64_t time_ns) {
    using Times = Options::Times;
    const std::uint64_t first = first_time_.value_or(time_ns), last = last_time_.value_or(time_ns);
    first_time_ = first;
    last_time_ = time_ns;
    if (options_.times == Times::since_first) time_ns -= first;
    if (options_.times == Times::since_last) time_ns -= last;
    if (options_.nanoseconds) {
        fmt::format_to(std::back_inserter(buffer_), "{:>5}.{:09}: ", time_ns / kSecond, time_ns % kSecond);
        return;
    }
    const std::uint64_t microseconds = time_ns / 1000;
    if (const std::uint64_t seconds = microseconds / 1'000'000; seconds != last_seconds_ || seconds_text_.empty()) {
        last_seconds_ = seconds;
        seconds_text_.clear();
        append_number(seconds, 5, seconds_text_);
    }
    buffer_ += seconds_text_;
    char digits[9] = {'.', '0', '0', '0', '0', '0', '0', ':', ' '};
    auto rest = static_cast<std::uint32_t>(microseconds % 1'000'000);
    for (const std::size_t i : {5u, 3u, 1u}) {
        std::memcpy(&digits[i], &kPairs[std::size_t{rest % 100} * 2], 2);
        rest /= 100;
    }
    buffer_.append(digits, sizeof digits);
}

}  // namespace anyperf::cli
