// printer.cpp: text of samples. What is printed is compared with perf's output byte by byte in the tests, so widths and
// blanks follow its sources even where they look accidental.
#include "cli/script/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "abi/sample_bits.h"
#include "analysis/call_chain.h"
#include "symbols/demangle.h"

namespace anyperf::cli {

namespace {

constexpr std::size_t kBuffer = 1 << 20;

using analysis::RawFrame;

}  // namespace

ScriptPrinter::ScriptPrinter(const perfdata::Reader& reader, const symbols::SymbolPaths& paths, Options options,
                             Output& out)
    : reader_(reader), out_(out), options_(options), dsos_(paths), processes_(strings_, dsos_), unwinder_(paths) {
    processes_.use_build_ids(reader.facts().build_ids);
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

void ScriptPrinter::flush() {
    out_.print(buffer_);
    buffer_.clear();
}

void ScriptPrinter::note_lost_files() {
    for (const auto& [key, dso] : dsos_.all())
        if (dso->lost_its_file()) out_.note(fmt::format("anyperf: frames without names: {}\n", dso->why_no_symbols()));
}

// The widths are those of perf's print_sample_start() and process_event() (tools/perf/builtin-script.c).
void ScriptPrinter::sample(const perfdata::Sample& sample, std::size_t event) {
    const Fields& fields = fields_of(event);
    const std::uint64_t type = reader_.events()[event].attr.sample_type;
    print_head(sample, event, fields);
    if (fields.has(Field::addr)) fmt::format_to(std::back_inserter(buffer_), "{:>16x}", sample.addr);
    if (fields.has(Field::ip) || fields.has(Field::sym) || fields.has(Field::dso)) {
        const analysis::SpaceId space = processes_.space(sample.pid);
        if ((type & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0) {
            buffer_ += '\n';
            print_chain(sample, event, space, fields);
        } else {
            buffer_ += ' ';
            buffer_ += frame({sample.ip, space, analysis::mode_of(sample.misc), false, false}, fields);
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
    const std::uint64_t branches = reader_.events()[event].attr.branch_sample_type;
    bool valid = true;
    if (sample.branches.empty()) {
        valid = print_plain_chain(sample, event, space, fields);
    } else {
        bool caller = false;
        valid = analysis::for_each_frame(sample, branches, [&](RawFrame each) {
            buffer_ += frame({each.address, space, each.mode, true, std::exchange(caller, true)}, fields);
            buffer_ += '\n';
        });
    }
    if (!valid) buffer_.resize(begin);
    if (sample.user_abi != 0 && !sample.user_stack.empty()) print_copied_stack(sample, event, space, fields);
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
    const std::size_t begin = buffer_.size(), same = common_end(chain);
    const std::size_t last_offset = last_chain_.words.size() - chain.size();  // may wrap around
    PrintedChain& now = this_chain_;
    now.words.clear();
    RawFrame::Mode mode = RawFrame::user;
    bool caller = false, valid = true, ended = false;
    for (std::size_t i = 0; i < chain.size() && valid && !ended; ++i) {
        if (caller && i >= chain.size() - same) {
            const std::size_t there = i + last_offset;
            const PrintedChain::Word& known = last_chain_.words[there];
            if (known.caller && known.mode == mode) {
                copy_end_of_last_chain(there, begin);
                break;
            }
        }
        now.words.push_back({chain[i], buffer_.size() - begin, mode, caller});
        switch (analysis::chain_word(chain[i], mode)) {
            case analysis::ChainWord::frame:
                buffer_ += frame({chain[i], space, mode, true, std::exchange(caller, true)}, fields);
                buffer_ += '\n';
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
    now.text.assign(buffer_, begin);
    std::swap(last_chain_, this_chain_);
    return valid;
}

/// Prints what was printed of the last chain's words from `from` on. `begin`: where this chain's text begins.
void ScriptPrinter::copy_end_of_last_chain(std::size_t from, std::size_t begin) {
    const std::size_t moved = buffer_.size() - begin - last_chain_.words[from].text;  // may wrap around
    for (std::size_t i = from; i < last_chain_.words.size(); ++i) {
        this_chain_.words.push_back(last_chain_.words[i]);
        this_chain_.words.back().text += moved;
    }
    buffer_.append(last_chain_.text, last_chain_.words[from].text);
}

// The unwinder has already moved return addresses back into the call, so these frames are not marked as callers.
void ScriptPrinter::print_copied_stack(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                                       const Fields& fields) {
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwound_.clear();
    const std::uint64_t mask = reader_.events()[event].attr.sample_regs_user;
    unwinder_.unwind(processes_[space], {sample.user_abi, mask, registers_, sample.user_stack}, unwound_);
    for (const std::uint64_t address : unwound_) {
        buffer_ += frame({address, space, RawFrame::user, true, false}, fields);
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

// Kernel frames are the same in all processes, so they have one key.
std::string_view ScriptPrinter::frame(const FrameKey& key, const Fields& fields) {
    FrameKey at = key;
    if (at.mode != RawFrame::user) at.space = 0;
    return frames_.text(at, [&] { return frame_text(at, fields); });
}

/// A frame's address, looked up.
struct ScriptPrinter::Place {
    FrameKey key;
    symbols::Dso* dso = nullptr;  ///< null: no map has the address
    const symbols::Symbol* symbol = nullptr;
    std::uint64_t offset = 0;   ///< in the file
    std::uint64_t address = 0;  ///< in the symbol table
};

/// A line for each function that is active at the address, the innermost first, without the last line's end.
std::string ScriptPrinter::frame_text(const FrameKey& key, const Fields& fields) {
    const symbols::AddressSpace& space = key.mode == RawFrame::user ? processes_[key.space] : processes_.kernel();
    const symbols::Map* map = key.mode == RawFrame::other ? nullptr : space.find(key.address);
    Place place{.key = key, .dso = map ? map->dso : nullptr, .offset = key.address};
    if (map) place.offset = key.address - map->start + map->file_offset;
    if (map && (fields.has(Field::sym) || fields.has(Field::srcline))) {
        dsos_.loaded(*map->dso);
        place.address = map->dso->symbol_address(key.address, place.offset);
        place.symbol = map->dso->find(place.address);
    }
    std::string text;
    const std::vector<symbols::SourceFrame> frames = source_frames(place, fields);
    if (key.in_chain && options_.inlines && fields.has(Field::sym))
        for (std::size_t i = 0; i + 1 < frames.size(); ++i) add_inlined(place, frames[i], fields, text);
    add_symbol(place, fields, text);
    if (!frames.empty() && fields.has(Field::srcline))
        add_line(key.in_chain && options_.inlines ? frames.back().at : frames.front().at, text);
    return text;
}

/// The functions and lines that DWARF has for the place; empty if the fields need none.
std::vector<symbols::SourceFrame> ScriptPrinter::source_frames(const Place& place, const Fields& fields) {
    const bool inlines = place.key.in_chain && options_.inlines && fields.has(Field::sym);
    if (!place.symbol || !(inlines || fields.has(Field::srcline))) return {};
    symbols::DebugInfo* debug = dsos_.debug_info(*place.dso);
    const bool within = place.key.caller && place.address > place.symbol->start;
    return debug ? debug->frames(place.address - (within ? 1 : 0)) : std::vector<symbols::SourceFrame>{};
}

/// A user address of a call chain is printed as its offset in the file, that of a lone sample as it is.
void ScriptPrinter::add_address(const Place& place, const Fields& fields, std::string& text) const {
    if (place.key.in_chain) text += '\t';
    const bool as_offset = place.key.in_chain && place.dso && !place.dso->is_kernel();
    if (fields.has(Field::ip))
        fmt::format_to(std::back_inserter(text), "{:>16x}", as_offset ? place.offset : place.key.address);
}

void ScriptPrinter::add_symbol(const Place& place, const Fields& fields, std::string& text) const {
    const auto out = std::back_inserter(text);
    add_address(place, fields, text);
    if (fields.has(Field::sym)) {
        fmt::format_to(out, " {}",
                       place.symbol ? symbols::demangle(place.dso->linkage_name(*place.symbol)) : "[unknown]");
        if (place.symbol && fields.has(Field::symoff))
            fmt::format_to(out, "+0x{:x}", place.address - place.symbol->start);
    }
    if (fields.has(Field::dso)) fmt::format_to(out, " ({})", place.dso ? place.dso->path() : "[unknown]");
}

/// As perf prints it: the offset is that of the symbol into which the function was inlined.
void ScriptPrinter::add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                                std::string& text) const {
    add_address(place, fields, text);
    fmt::format_to(std::back_inserter(text), " {}",
                   frame.name.empty() ? std::string{"[unknown]"} : symbols::demangle(frame.name));
    if (fields.has(Field::symoff))
        fmt::format_to(std::back_inserter(text), "+0x{:x}", place.address - place.symbol->start);
    if (fields.has(Field::srcline)) add_line(frame.at, text);
    text += " (inlined)\n";
}

void ScriptPrinter::add_line(const symbols::SourceLine& at, std::string& text) {
    if (at.line == 0) return;
    fmt::format_to(std::back_inserter(text), "\n  {}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
}

}  // namespace anyperf::cli
