// namer.h: finds the location of the profile for an address in a process. It keeps each answer, so an address of a dso
// is named once. Therefore the maps of all processes must be complete: call it after the last record has been read.
//
// Why it comes last: reading a file's symbols costs more than reading its samples, and only files with samples need
// any. A sample's address space keeps the maps that it had at the sample's time (processes.h), so nothing is lost by
// waiting.
//
// An address takes three steps. A frame of an address space becomes an address in a dso (a library has one set of
// locations, though each process maps it elsewhere). That is computed each time: it costs less than finding a kept
// answer among a million. A table has the location of each address in a dso, and another one the function that begins
// at the start of a symbol, which all locations in the function share.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "analysis/address_map.h"
#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "profile/profile.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

/// What is asked of DWARF.
struct SourceOptions {
    bool lines = false;    ///< the source line of each location
    bool inlines = false;  ///< the functions that were inlined there
    bool any() const { return lines || inlines; }
};

/// Adds the locations, functions and dsos of addresses to a profile, with the names of their symbols.
class Namer {
  public:
    /// `addresses`: each address is a location. Else those of one function are one, with the address that came first.
    Namer(profile::Profile& profile, const Processes& processes, symbols::Dsos& dsos, SourceOptions source,
          bool addresses = true)
        : profile_(profile), processes_(processes), dsos_(dsos), source_(source), addresses_(addresses) {}

    /// The location of an address in that address space, in the kernel, or of neither (RawFrame::other). An address
    /// without a map has a location in the dso "[unknown]". The address of a caller is where its callee returns to: its
    /// symbol is looked up there, as perf does, but its line is that of the call.
    profile::LocationId location(SpaceId space, RawFrame frame, bool caller);

    /// To be called after the processes have changed.
    void forget_map() { last_map_ = nullptr; }

  private:
    using Locations = AddressMap<profile::LocationId>;
    using Functions = AddressMap<profile::FunctionId>;
    static constexpr std::uint32_t kCaller = 4;  // in the mode of a key

    /// A dso, with its file loaded.
    struct KnownDso {
        const symbols::Dso* key = nullptr;
        profile::DsoId id = profile::kNone<profile::DsoId>;
        symbols::Dso* dso = nullptr;
    };

    /// The map that has the frame; null if none has.
    const symbols::Map* map_of(SpaceId space, RawFrame frame);
    const KnownDso& known(symbols::Dso& dso);
    profile::LocationId in_dso(const KnownDso& dso, const symbols::Map& map, RawFrame frame, bool own_line);
    /// The location of all addresses of a function.
    profile::LocationId of_function(const KnownDso& dso, const symbols::Map& map, RawFrame frame,
                                    const symbols::Symbol& symbol);
    void add_frames(profile::Location& location, symbols::DebugInfo* debug, symbols::Dso& dso,
                    const symbols::Symbol& symbol, bool caller);
    /// The location of an address that no map contains.
    profile::LocationId unknown(RawFrame frame);
    profile::DsoId add(const symbols::Dso& dso);
    profile::FunctionId function(profile::DsoId id, const symbols::Dso& dso, const symbols::Symbol& symbol);
    profile::FunctionId inlined_function(profile::DsoId id, const symbols::SourceFrame& frame);
    profile::Frame script_frame(profile::FunctionId function, const symbols::Dso& dso, std::uint64_t address);
    profile::Frame frame_at(profile::FunctionId function, const symbols::SourceLine& at);

    profile::Profile& profile_;
    const Processes& processes_;
    symbols::Dsos& dsos_;
    SourceOptions source_;
    bool addresses_;
    Locations by_address_;   // address, dso, mode
    Locations by_function_;  // start of the function, dso, mode; unless addresses_
    Functions by_start_;     // start of the function, dso, 0
    Functions by_name_;      // name of an inlined function, dso, 0
    std::unordered_map<const symbols::Dso*, KnownDso> by_dso_;
    std::array<KnownDso, 64> last_dsos_;  // by a hash of the dso's address
    // The map that was found last, and where.
    const symbols::Map* last_map_ = nullptr;
    SpaceId last_space_ = 0;
    RawFrame::Mode last_mode_ = RawFrame::user;
    profile::DsoId unknown_dso_ = profile::kNone<profile::DsoId>;
};

}  // namespace anyperf::analysis
