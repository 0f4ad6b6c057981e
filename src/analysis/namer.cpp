#include "analysis/namer.h"

namespace anyperf::analysis {

namespace {

profile::Dso::Kind kind_of(symbols::DsoKind kind) {
    switch (kind) {
        case symbols::DsoKind::file: return profile::Dso::Kind::file;
        case symbols::DsoKind::kernel: return profile::Dso::Kind::kernel;
        case symbols::DsoKind::kernel_module: return profile::Dso::Kind::kernel_module;
        case symbols::DsoKind::vdso: return profile::Dso::Kind::vdso;
        case symbols::DsoKind::jit:
        case symbols::DsoKind::jit_dump: return profile::Dso::Kind::jit;
        case symbols::DsoKind::script: return profile::Dso::Kind::script;
        case symbols::DsoKind::unknown: break;
    }
    return profile::Dso::Kind::unknown;
}

}  // namespace

// With source lines a caller is a location of its own, since its line is that of the call and not that of the return
// address.
profile::LocationId Namer::location(SpaceId space, RawFrame frame, bool caller) {
    const symbols::Map* map = frame.mode == RawFrame::other ? nullptr : map_of(space, frame);
    if (!map) return unknown(frame);
    return in_dso(known(*map->dso), *map, frame, caller && source_.any() && frame.mode == RawFrame::user);
}

const symbols::Map* Namer::map_of(SpaceId space, RawFrame frame) {
    const bool kernel = frame.mode == RawFrame::kernel;
    if (last_map_ && frame.mode == last_mode_ && (kernel || space == last_space_) &&
        frame.address - last_map_->start < last_map_->end - last_map_->start)
        return last_map_;
    last_space_ = space;
    last_mode_ = frame.mode;
    return last_map_ = (kernel ? processes_.kernel() : processes_[space]).find(frame.address);
}

// An address in a dso without a symbol gets a location without frames, which shows as an address. It has no line, so it
// is one location, also as that of a caller.
profile::LocationId Namer::in_dso(const KnownDso& dso, const symbols::Map& map, RawFrame frame, bool own_line) {
    symbols::Dso& found = *dso.dso;
    const std::uint64_t offset = frame.address - map.start + map.file_offset;
    const std::uint64_t address = found.symbol_address(frame.address, offset);
    if (!addresses_)
        if (const symbols::Symbol* symbol = found.find(address)) return of_function(dso, map, frame, *symbol);
    const Locations::Key key{address, dso.id.value, frame.mode | (own_line ? kCaller : 0)};
    const auto [at, fresh] = by_address_.try_emplace(key);
    if (!fresh) return at;
    const symbols::Symbol* symbol = found.find(address);
    symbols::DebugInfo* debug = symbol && source_.any() ? dsos_.debug_info(found) : nullptr;
    if (own_line && !debug && !found.jit_dump()) {
        const profile::LocationId same = in_dso(dso, map, frame, false);
        return by_address_.try_emplace(key).first = same;
    }
    profile::Location location{.dso = dso.id,
                               .address = address,
                               .file_offset = offset,
                               .map_bytes = map.end - map.start,
                               .kernel = frame.mode == RawFrame::kernel};
    // Naming the frames adds to other tables only, so `at` stays valid.
    if (symbol) add_frames(location, debug, found, *symbol, own_line);
    return at = profile_.locations.add(location);
}

// A kernel's function may have samples of both modes, which reports tell apart.
profile::LocationId Namer::of_function(const KnownDso& dso, const symbols::Map& map, RawFrame frame,
                                       const symbols::Symbol& symbol) {
    const auto [at, fresh] = by_function_.try_emplace({symbol.start, dso.id.value, frame.mode});
    if (!fresh) return at;
    const std::uint64_t offset = frame.address - map.start + map.file_offset;
    profile::Location location{.dso = dso.id,
                               .address = dso.dso->symbol_address(frame.address, offset),
                               .file_offset = offset,
                               .map_bytes = map.end - map.start,
                               .kernel = frame.mode == RawFrame::kernel};
    add_frames(location, nullptr, *dso.dso, symbol, false);
    return at = profile_.locations.add(location);
}

void Namer::add_frames(profile::Location& location, symbols::DebugInfo* debug, symbols::Dso& dso,
                       const symbols::Symbol& symbol, bool caller) {
    const profile::FunctionId outermost = function(location.dso, dso, symbol);
    location.first_frame = static_cast<std::uint32_t>(profile_.all_frames.size());
    if (dso.kind() == symbols::DsoKind::script) {
        profile_.all_frames.push_back(script_frame(outermost, dso, location.address));
        location.frame_count = 1;
        return;
    }
    // A call as the last instruction returns to the next function, which perf then shows.
    const bool within = caller && location.address > symbol.start;
    using Lines = symbols::DebugInfo::Lines;
    const auto frames =
        debug ? debug->frames(location.address - (within ? 1 : 0), source_.lines ? Lines::all : Lines::none)
              : std::vector<symbols::SourceFrame>{};
    if (frames.empty()) {
        const auto at = source_.lines ? dso.line_in_dump(location.address - (within ? 1 : 0), symbol) : std::nullopt;
        profile_.all_frames.push_back(at ? frame_at(outermost, *at) : profile::Frame{.function = outermost});
    } else if (!source_.inlines) {
        profile_.all_frames.push_back(frame_at(outermost, frames.front().at));
    } else {
        for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
            profile_.all_frames.push_back(frame_at(inlined_function(location.dso, frames[i]), frames[i].at));
            profile_.all_frames.back().inlined = true;
        }
        profile_.all_frames.push_back(frame_at(outermost, frames.back().at));
    }
    if (!frames.empty()) {
        profile::Function& declared = profile_.functions[outermost];
        declared.file = profile_.strings.intern(frames.back().declared.file);
        declared.line = frames.back().declared.line;
    }
    location.frame_count = static_cast<std::uint16_t>(profile_.all_frames.size() - location.first_frame);
}

/// A frame of a Python function. Its file and lines come with its address, not from DWARF.
profile::Frame Namer::script_frame(profile::FunctionId function, const symbols::Dso& dso, std::uint64_t address) {
    const profile::StringId file = profile_.strings.intern(dso.path());
    profile_.functions[function].file = file;
    profile_.functions[function].line = dso.first_script_line();
    return {.function = function, .file = file, .line = symbols::Dso::script_line(address)};
}

profile::Frame Namer::frame_at(profile::FunctionId function, const symbols::SourceLine& at) {
    return {.function = function, .file = profile_.strings.intern(at.file), .line = at.line};
}

/// A function of its own, also where the file has the same function with a symbol: perf's reports keep the two apart.
profile::FunctionId Namer::inlined_function(profile::DsoId id, const symbols::SourceFrame& frame) {
    const profile::StringId name = profile_.strings.intern(frame.name.empty() ? "[unknown]" : frame.name);
    const auto [at, fresh] = by_name_.try_emplace({name.value, id.value, 0});
    if (fresh)
        at = profile_.functions.add({.name = profile_.strings.intern(dsos_.shown(profile_.text(name))),
                                     .linkage_name = name,
                                     .dso = id,
                                     .file = profile_.strings.intern(frame.declared.file),
                                     .line = frame.declared.line});
    return at;
}

// The address itself stays visible: several unknown addresses in one report are several lines.
profile::LocationId Namer::unknown(RawFrame frame) {
    if (unknown_dso_ == profile::kNone<profile::DsoId>) {
        const profile::StringId name = profile_.strings.intern("[unknown]");
        unknown_dso_ = profile_.dsos.add({.path = name, .name = name});
    }
    const auto [at, fresh] = by_address_.try_emplace({frame.address, unknown_dso_.value, frame.mode});
    if (fresh)
        at = profile_.locations.add({.dso = unknown_dso_,
                                     .address = frame.address,
                                     .file_offset = frame.address,
                                     .kernel = frame.mode == RawFrame::kernel});
    return at;
}

const Namer::KnownDso& Namer::known(symbols::Dso& dso) {
    KnownDso& last = last_dsos_[reinterpret_cast<std::uintptr_t>(&dso) / alignof(symbols::Dso) / 8 % last_dsos_.size()];
    if (last.key == &dso) return last;
    const auto [at, fresh] = by_dso_.try_emplace(&dso);
    if (fresh) at->second = {&dso, add(dsos_.loaded(dso)), &dso};
    return last = at->second;
}

profile::DsoId Namer::add(const symbols::Dso& dso) {
    return profile_.dsos.add({.path = profile_.strings.intern(dso.path()),
                              .name = profile_.strings.intern(dso.name()),
                              .build_id = profile_.strings.intern(dso.build_id()),
                              .lost = profile_.strings.intern(dso.lost_its_file() ? dso.why_no_symbols() : ""),
                              .kind = kind_of(dso.kind())});
}

// By the start of the symbol, not by its name: two static functions of one name are two functions.
profile::FunctionId Namer::function(profile::DsoId id, const symbols::Dso& dso, const symbols::Symbol& symbol) {
    const auto [at, fresh] = by_start_.try_emplace({symbol.start, id.value, 0});
    if (fresh) {
        const std::string_view name = dso.linkage_name(symbol);
        at = profile_.functions.add({.name = profile_.strings.intern(dsos_.shown(name)),
                                     .linkage_name = profile_.strings.intern(name),
                                     .dso = id,
                                     .address = symbol.start,
                                     .size = symbol.end - symbol.start,
                                     .is_data = symbol.is_data != 0});
    }
    return at;
}

}  // namespace anyperf::analysis
