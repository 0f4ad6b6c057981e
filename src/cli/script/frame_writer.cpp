// frame_writer.cpp: what is printed is compared with perf's output byte by byte in the tests, so widths and blanks
// follow its sources even where they look accidental.
#include "cli/script/frame_writer.h"

#include <fmt/format.h>

#include <elf.h>

#include <bit>
#include <iterator>
#include <string_view>

#include "annotation/disassembly.h"
#include "symbols/demangle.h"

namespace anyperf::cli {

using analysis::RawFrame;

/// A frame's address, looked up.
struct FrameWriter::Place {
    FrameKey key;
    symbols::Dso* dso = nullptr;  ///< null: no map has the address
    const symbols::Symbol* symbol = nullptr;
    std::uint64_t offset = 0;   ///< in the file
    std::uint64_t address = 0;  ///< in the symbol table

    /// A user address of a call chain is printed as its offset in the file, that of a lone sample as it is.
    bool shows_offset() const { return key.in_chain && dso && !dso->is_kernel(); }
    bool has_symbol_offset(const Fields& fields) const {
        return symbol && fields.has(Field::sym) && fields.has(Field::symoff);
    }
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

std::string FrameWriter::function(const FrameKey& key) {
    return name_of(place_of(normalized(key), true));
}

FramePlace FrameWriter::place(std::uint64_t address, analysis::SpaceId space) {
    Place found = place_of({address, space, RawFrame::user, false, false}, true);
    if (!found.dso) found = place_of({address, space, RawFrame::kernel, false, false}, true);
    std::string name = name_of(found);
    if (found.symbol) fmt::format_to(std::back_inserter(name), "+0x{:x}", found.address - found.symbol->start);
    const bool in_file = found.dso && !found.dso->is_kernel();
    return {std::move(name), found.dso ? found.dso->path() : "[unknown]", in_file ? found.offset : address};
}

symbols::Bytes FrameWriter::instruction(const FrameKey& key) {
    const Place found = place_of(normalized(key), true);
    const symbols::ElfImage* image = found.dso ? found.dso->image() : nullptr;
    if (!image || (image->machine() != EM_X86_64 && image->machine() != EM_386)) return {};
    const symbols::Bytes code = image->at_address(found.address);
    return code.first(annotation::instruction_length(code, image->machine() == EM_X86_64));
}

// Each pass touches the memory that the one before has asked for: the slot of a frame, its form, its text.
void FrameWriter::look_up_announced() {
    announced_version_ = texts_.version();
    for (Announced& each : announced_) {
        each.unmapped = is_unmapped(each.key);
        if (!each.unmapped) texts_.prefetch(each.key);
    }
    for (Announced& each : announced_) {
        if (each.unmapped) continue;
        each.form = texts_.find(each.key);
        if (each.form != FrameTexts::kNone) __builtin_prefetch(&texts_.form(each.form));
    }
    for (const Announced& each : announced_)
        if (each.form != FrameTexts::kNone) texts_.prefetch(texts_.form(each.form));
}

// A frame that no map has is not kept: a map may be added there.
void FrameWriter::append(FrameKey key, const Fields& fields, std::string& text) {
    key = normalized(key);
    if (is_unmapped(key)) return append_unmapped(key, fields, text);
    if (const std::uint32_t known = texts_.find(key); known != FrameTexts::kNone)
        return texts_.append(texts_.form(known), key.address, text);
    const Place place = place_of(key, fields.has(Field::sym) || fields.has(Field::srcline));
    if (!place.dso) return append_unmapped(key, fields, text);
    const std::vector<symbols::SourceFrame> frames = source_frames(place, fields);
    const bool own_text = fields.has(Field::srcline) ? !frames.empty() : frames.size() > 1;
    if (!own_text && append_form(place, fields, text)) return;
    const std::size_t begin = text.size();
    make_text(place, frames, fields, text);
    if (key.in_chain) text += '\n';
    const std::string_view made = std::string_view{text}.substr(begin);
    if (texts_.make_room(made.size())) texts_.insert(key, texts_.add({.head = texts_.keep(made)}));
}

void FrameWriter::append_unmapped(const FrameKey& key, const Fields& fields, std::string& text) {
    Unmapped& known = unmapped_[key.in_chain ? 1 : 0];
    if (known.version != texts_.version() || known.fields != fields) {
        if (!texts_.make_room(kMostBesidesNames)) return;
        const Place place{.key = key};
        const std::optional<KeptText> head = head_of(place, fields), tail = tail_of(place, fields);
        if (!head || !tail) return;
        known = {fields, form_of(place, fields, *head, *tail), texts_.version()};
    }
    texts_.append(known.form, key.address, text);
}

std::size_t FrameWriter::OriginHash::operator()(const Origin& origin) const {
    std::uint64_t bits = 0;
    for (const std::uint64_t each :
         {std::bit_cast<std::uint64_t>(origin.symbol), std::bit_cast<std::uint64_t>(origin.dso), origin.moved,
          std::uint64_t{origin.in_chain}})
        bits = (bits ^ each) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
    return bits ^ bits >> 32;
}

/// Appends and keeps a frame of one line without the place in the source. Returns false if its names are too long, or
/// if there was no room for one of them beside the other.
bool FrameWriter::append_form(const Place& place, const Fields& fields, std::string& text) {
    if (!texts_.make_room(place.dso->path().size() + kMostBesidesNames)) return false;
    forget_old();
    const std::uint64_t address = place.key.address;
    const Origin origin{place.dso,
                        place.symbol,
                        place.offset - address,
                        place.symbol ? place.address - place.symbol->start - address : 0,
                        place.key.in_chain,
                        fields};
    auto known = forms_.find(origin);
    if (known == forms_.end()) {
        const std::optional<KeptText> head = head_of(place, fields);
        const std::uint64_t version = texts_.version();
        const std::optional<KeptText> tail = tail_of(place, fields);
        if (!head || !tail || texts_.version() != version) return false;
        known = forms_.emplace(origin, texts_.add(form_of(place, fields, *head, *tail))).first;
    }
    texts_.insert(place.key, known->second);
    texts_.append(texts_.form(known->second), address, text);
    return true;
}

/// What was kept of texts that texts_ has forgotten.
void FrameWriter::forget_old() {
    if (kept_version_ == texts_.version()) return;
    kept_.clear();
    forms_.clear();
    kept_version_ = texts_.version();
}

/// The numbers of a form differ from process to process, but its texts do not.
FrameForm FrameWriter::form_of(const Place& place, const Fields& fields, KeptText head, KeptText tail) {
    FrameForm form{.head = head, .tail = tail, .has_tab = place.key.in_chain, .has_address = fields.has(Field::ip)};
    if (place.shows_offset()) form.shown = place.offset - place.key.address;
    form.has_offset = place.has_symbol_offset(fields);
    if (form.has_offset) form.within = place.address - place.symbol->start - place.key.address;
    return form;
}

/// The text that `make` makes of `of`, which is made once. None if it is too long.
template <class Make>
std::optional<KeptText> FrameWriter::kept(const void* of, const Place& place, const Fields& fields, Make&& make) {
    forget_old();
    const TextKey key{of, place.key.in_chain, fields};
    if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
    const std::string text = make();
    if (!texts_.make_room(text.size())) return {};
    forget_old();
    return kept_.emplace(key, texts_.keep(text)).first->second;
}

// Unnamed frames have a key that is no symbol and no file.
std::optional<KeptText> FrameWriter::head_of(const Place& place, const Fields& fields) {
    if (!fields.has(Field::sym)) return KeptText{};
    const void* of = place.symbol ? static_cast<const void*>(place.symbol) : this;
    return kept(of, place, fields,
                [&] { return " " + name_of(place) + (place.has_symbol_offset(fields) ? "+0x" : ""); });
}

std::optional<KeptText> FrameWriter::tail_of(const Place& place, const Fields& fields) {
    return kept(place.dso, place, fields, [&] { return dso_text(place, fields) + (place.key.in_chain ? "\n" : ""); });
}

void FrameWriter::make_text(const Place& place, const std::vector<symbols::SourceFrame>& frames, const Fields& fields,
                            std::string& text) {
    const bool inlines = place.key.in_chain && options_.inlines;
    if (inlines && fields.has(Field::sym))
        for (std::size_t i = 0; i + 1 < frames.size(); ++i) add_inlined(place, frames[i], fields, text);
    add_symbol(place, fields, text);
    if (!frames.empty() && fields.has(Field::srcline)) add_line(inlines ? frames.back().at : frames.front().at, text);
}

void FrameWriter::add_line(const symbols::SourceLine& at, std::string& text) const {
    if (at.line == 0) return;
    const std::size_t begin = options_.whole_source_paths ? 0 : at.file.rfind('/') + 1;
    fmt::format_to(std::back_inserter(text), "\n  {}:{}", std::string_view{at.file}.substr(begin), at.line);
}

/// The functions and lines that DWARF has for the place; empty if the fields need none.
std::vector<symbols::SourceFrame> FrameWriter::source_frames(const Place& place, const Fields& fields) {
    const bool inlines = place.key.in_chain && options_.inlines && fields.has(Field::sym);
    if (!place.symbol || !(inlines || fields.has(Field::srcline))) return {};
    if (place.dso->kind() == symbols::DsoKind::script) {
        const symbols::SourceLine at{place.dso->path(), symbols::Dso::script_line(place.address)};
        return {{.name = place.dso->linkage_name(*place.symbol), .at = at, .declared = at}};
    }
    const bool within = place.key.caller && place.address > place.symbol->start;
    if (const auto at = place.dso->line_in_dump(place.address - (within ? 1 : 0), *place.symbol))
        return {{.name = place.dso->linkage_name(*place.symbol), .at = *at, .declared = *at}};
    symbols::DebugInfo* debug = dsos_.debug_info(*place.dso);
    using Lines = symbols::DebugInfo::Lines;
    const Lines lines = fields.has(Field::srcline) ? Lines::all : Lines::none;
    return debug ? debug->frames(place.address - (within ? 1 : 0), lines) : std::vector<symbols::SourceFrame>{};
}

void FrameWriter::add_address(const Place& place, const Fields& fields, std::string& text) {
    if (place.key.in_chain) text += '\t';
    if (!fields.has(Field::ip)) return;
    char column[kHexadecimalDigits];
    write_column(place.shows_offset() ? place.offset : place.key.address, column);
    text.append(column, sizeof column);
}

std::string FrameWriter::name_of(const Place& place) const {
    return place.symbol ? dsos_.shown(place.dso->linkage_name(*place.symbol)) : "[unknown]";
}

std::string FrameWriter::dso_text(const Place& place, const Fields& fields) {
    return fields.has(Field::dso) ? " (" + (place.dso ? place.dso->path() : "[unknown]") + ")" : "";
}

void FrameWriter::add_symbol(const Place& place, const Fields& fields, std::string& text) const {
    add_address(place, fields, text);
    if (fields.has(Field::sym)) {
        text += ' ';
        text += name_of(place);
        if (place.has_symbol_offset(fields))
            fmt::format_to(std::back_inserter(text), "+0x{:x}", place.address - place.symbol->start);
    }
    text += dso_text(place, fields);
}

/// As perf prints it: the offset is that of the symbol into which the function was inlined.
void FrameWriter::add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                              std::string& text) const {
    add_address(place, fields, text);
    text += ' ';
    text += frame.name.empty() ? "[unknown]" : dsos_.shown(frame.name);
    if (fields.has(Field::symoff))
        fmt::format_to(std::back_inserter(text), "+0x{:x}", place.address - place.symbol->start);
    if (fields.has(Field::srcline)) add_line(frame.at, text);
    text += " (inlined)\n";
}

}  // namespace anyperf::cli
