// frame_writer.cpp: what is printed is compared with perf's output byte by byte in the tests, so widths and blanks
// follow its sources even where they look accidental.
#include "cli/script/frame_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "symbols/demangle.h"

namespace anyperf::cli {

using analysis::RawFrame;

namespace {

/// At least 16 columns, as "%16lx". Most frames are printed once for each of their samples, and stacks that frame
/// pointers have led astray have millions of different addresses.
void add_hexadecimal(std::uint64_t number, std::string& text) {
    char digits[16];
    std::size_t at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[number & 15];
    while ((number >>= 4) != 0);
    while (at > 0) digits[--at] = ' ';
    text.append(digits, sizeof digits);
}

void add_line(const symbols::SourceLine& at, std::string& text) {
    if (at.line == 0) return;
    fmt::format_to(std::back_inserter(text), "\n  {}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
}

}  // namespace

/// A frame's address, looked up.
struct FrameWriter::Place {
    FrameKey key;
    symbols::Dso* dso = nullptr;  ///< null: no map has the address
    const symbols::Symbol* symbol = nullptr;
    std::uint64_t offset = 0;   ///< in the file
    std::uint64_t address = 0;  ///< in the symbol table
};

FrameWriter::Place FrameWriter::place_of(const FrameKey& key, bool names) {
    const symbols::AddressSpace& space = key.mode == RawFrame::user ? processes_[key.space] : processes_.kernel();
    const symbols::Map* map = key.mode == RawFrame::other ? nullptr : space.find(key.address);
    Place place{.key = key, .dso = map ? map->dso : nullptr, .offset = key.address};
    if (!map) return place;
    place.offset = key.address - map->start + map->file_offset;
    if (!names) return place;
    dsos_.loaded(*map->dso);
    place.address = map->dso->symbol_address(key.address, place.offset);
    place.symbol = map->dso->find(place.address);
    return place;
}

// Kernel frames are the same in all processes, so they have one key.
void FrameWriter::append(FrameKey key, const Fields& fields, std::string& text) {
    if (key.mode != RawFrame::user) key.space = 0;
    if (texts_.append(key, text)) return;
    const Place place = place_of(key, fields.has(Field::sym) || fields.has(Field::srcline));
    const std::size_t begin = text.size();
    make_text(place, fields, text);
    if (key.in_chain) text += '\n';
    if (place.dso) texts_.insert(key, std::string_view{text}.substr(begin));
}

void FrameWriter::make_text(const Place& place, const Fields& fields, std::string& text) {
    const std::vector<symbols::SourceFrame> frames = source_frames(place, fields);
    const bool inlines = place.key.in_chain && inlines_;
    if (inlines && fields.has(Field::sym))
        for (std::size_t i = 0; i + 1 < frames.size(); ++i) add_inlined(place, frames[i], fields, text);
    add_symbol(place, fields, text);
    if (!frames.empty() && fields.has(Field::srcline)) add_line(inlines ? frames.back().at : frames.front().at, text);
}

/// The functions and lines that DWARF has for the place; empty if the fields need none.
std::vector<symbols::SourceFrame> FrameWriter::source_frames(const Place& place, const Fields& fields) {
    const bool inlines = place.key.in_chain && inlines_ && fields.has(Field::sym);
    if (!place.symbol || !(inlines || fields.has(Field::srcline))) return {};
    if (place.dso->kind() == symbols::DsoKind::script) {
        const symbols::SourceLine at{place.dso->path(), symbols::Dso::script_line(place.address)};
        return {{.name = place.dso->linkage_name(*place.symbol), .at = at, .declared = at}};
    }
    symbols::DebugInfo* debug = dsos_.debug_info(*place.dso);
    const bool within = place.key.caller && place.address > place.symbol->start;
    using Lines = symbols::DebugInfo::Lines;
    const Lines lines = fields.has(Field::srcline) ? Lines::all : Lines::none;
    return debug ? debug->frames(place.address - (within ? 1 : 0), lines) : std::vector<symbols::SourceFrame>{};
}

/// A user address of a call chain is printed as its offset in the file, that of a lone sample as it is.
void FrameWriter::add_address(const Place& place, const Fields& fields, std::string& text) {
    if (place.key.in_chain) text += '\t';
    const bool as_offset = place.key.in_chain && place.dso && !place.dso->is_kernel();
    if (fields.has(Field::ip)) add_hexadecimal(as_offset ? place.offset : place.key.address, text);
}

/// A function has many addresses, and demangling takes longer than all else. So its name is kept as a frame is, by the
/// symbol, in a mode of which no frame is kept.
void FrameWriter::add_name(const Place& place, std::string& text) {
    if (!place.symbol) {
        text += "[unknown]";
        return;
    }
    const FrameKey key{.address = reinterpret_cast<std::uintptr_t>(place.symbol), .mode = RawFrame::other};
    if (texts_.append(key, text)) return;
    const std::string name = symbols::demangle(place.dso->linkage_name(*place.symbol));
    text += name;
    if (!name.empty()) texts_.insert(key, name);
}

void FrameWriter::add_symbol(const Place& place, const Fields& fields, std::string& text) {
    add_address(place, fields, text);
    if (fields.has(Field::sym)) {
        text += ' ';
        add_name(place, text);
        if (place.symbol && fields.has(Field::symoff))
            fmt::format_to(std::back_inserter(text), "+0x{:x}", place.address - place.symbol->start);
    }
    if (!fields.has(Field::dso)) return;
    text += " (";
    text += place.dso ? std::string_view{place.dso->path()} : "[unknown]";
    text += ')';
}

/// As perf prints it: the offset is that of the symbol into which the function was inlined.
void FrameWriter::add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                              std::string& text) {
    add_address(place, fields, text);
    text += ' ';
    text += frame.name.empty() ? "[unknown]" : symbols::demangle(frame.name);
    if (fields.has(Field::symoff))
        fmt::format_to(std::back_inserter(text), "+0x{:x}", place.address - place.symbol->start);
    if (fields.has(Field::srcline)) add_line(frame.at, text);
    text += " (inlined)\n";
}

}  // namespace anyperf::cli
