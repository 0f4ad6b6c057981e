#include "analysis/namer.h"

#include "symbols/demangle.h"

namespace anyperf::analysis {

namespace {

profile::Dso::Kind kind_of(symbols::DsoKind kind) {
    switch (kind) {
        case symbols::DsoKind::file: return profile::Dso::Kind::file;
        case symbols::DsoKind::kernel: return profile::Dso::Kind::kernel;
        case symbols::DsoKind::kernel_module: return profile::Dso::Kind::kernel_module;
        case symbols::DsoKind::vdso: return profile::Dso::Kind::vdso;
        case symbols::DsoKind::jit: return profile::Dso::Kind::jit;
        case symbols::DsoKind::unknown: break;
    }
    return profile::Dso::Kind::unknown;
}

}  // namespace

profile::LocationId Namer::location(SpaceId space, RawFrame frame) {
    const bool kernel = frame.mode != RawFrame::user;
    const auto [at, fresh] = by_frame_.try_emplace({frame.address, kernel ? 0 : space, frame.mode});
    if (fresh) {
        // Looking up adds to other tables only, so `at` stays valid.
        at->second = look_up(space, frame);
    }
    return at->second;
}

// A location has at most one frame here: inlined functions, which only debugging information knows, are not resolved.
// An address in a dso without a symbol gets a location without frames, which shows as an address.
profile::LocationId Namer::look_up(SpaceId space, RawFrame frame) {
    if (frame.mode == RawFrame::other) return unknown(frame);
    const bool kernel = frame.mode == RawFrame::kernel;
    const symbols::Map* map = (kernel ? processes_.kernel() : processes_[space]).find(frame.address);
    if (!map) return unknown(frame);
    const symbols::Dso& found = dsos_.loaded(*map->dso);
    const profile::DsoId id = dso(found);
    const std::uint64_t offset = frame.address - map->start + map->file_offset;
    const std::uint64_t address = found.symbol_address(frame.address, offset);
    const auto [at, fresh] = by_address_.try_emplace({address, id.value, frame.mode});
    if (!fresh) return at->second;
    profile::Location location{.dso = id, .address = address, .file_offset = offset, .kernel = kernel};
    if (const symbols::Symbol* symbol = found.find(address)) {
        location.first_frame = static_cast<std::uint32_t>(profile_.all_frames.size());
        location.frame_count = 1;
        profile_.all_frames.push_back({.function = function(id, found, *symbol)});
    }
    return at->second = profile_.locations.add(location);
}

// The address itself stays visible: several unknown addresses in one report are several lines.
profile::LocationId Namer::unknown(RawFrame frame) {
    if (unknown_dso_ == profile::kNone<profile::DsoId>) {
        const profile::StringId name = profile_.strings.intern("[unknown]");
        unknown_dso_ = profile_.dsos.add({.path = name, .name = name});
    }
    const auto [at, fresh] = by_address_.try_emplace({frame.address, unknown_dso_.value, frame.mode});
    if (fresh)
        at->second = profile_.locations.add({.dso = unknown_dso_,
                                             .address = frame.address,
                                             .file_offset = frame.address,
                                             .kernel = frame.mode == RawFrame::kernel});
    return at->second;
}

profile::DsoId Namer::dso(const symbols::Dso& dso) {
    const auto [at, fresh] = by_dso_.try_emplace(&dso);
    if (fresh)
        at->second = profile_.dsos.add({.path = profile_.strings.intern(dso.path()),
                                        .name = profile_.strings.intern(dso.name()),
                                        .build_id = profile_.strings.intern(dso.build_id()),
                                        .kind = kind_of(dso.kind())});
    return at->second;
}

// By the start of the symbol, not by its name: two static functions of one name are two functions.
profile::FunctionId Namer::function(profile::DsoId id, const symbols::Dso& dso, const symbols::Symbol& symbol) {
    const auto [at, fresh] = by_start_.try_emplace({symbol.start, id.value, 0});
    if (fresh) {
        const std::string_view name = dso.linkage_name(symbol);
        at->second = profile_.functions.add({.name = profile_.strings.intern(symbols::demangle(name)),
                                             .linkage_name = profile_.strings.intern(name),
                                             .dso = id,
                                             .address = symbol.start});
    }
    return at->second;
}

}  // namespace anyperf::analysis
