// frame_writer.h: frames as text ("ip symbol+0x1 (dso)"). Each different frame is made into text once and then copied:
// most of perf's time goes into formatting the same frames again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/processes.h"
#include "cli/script/fields.h"
#include "cli/script/frame_texts.h"
#include "symbols/dso.h"

namespace anyperf::cli {

/// Frames are named while the records are read, with the maps of that moment. A process that replaces a map gets a new
/// space (analysis/processes.h), so the kept text of a frame stays right. A frame that no map has is not kept: a map
/// may be added there. The space of the kernel has no versions.
class FrameWriter {
  public:
    /// `inlines`: functions that were inlined are frames of call chains. The other arguments must outlive it.
    FrameWriter(const analysis::Processes& processes, symbols::Dsos& dsos, bool inlines)
        : processes_(processes), dsos_(dsos), inlines_(inlines) {}

    /// Appends a line for each function that is active at the address, the innermost first. Of a lone sample it has no
    /// end. `fields` are the same in all calls for one key.
    void append(FrameKey key, const Fields& fields, std::string& text);
    /// Says that the same key will soon be given to append().
    void announce(FrameKey key) const {
        if (key.mode != analysis::RawFrame::user) key.space = 0;
        texts_.prefetch(key);
    }

  private:
    struct Place;
    Place place_of(const FrameKey& key, bool names);
    void make_text(const Place& place, const Fields& fields, std::string& text);
    std::vector<symbols::SourceFrame> source_frames(const Place& place, const Fields& fields);
    static void add_address(const Place& place, const Fields& fields, std::string& text);
    void add_symbol(const Place& place, const Fields& fields, std::string& text);
    void add_name(const Place& place, std::string& text);
    static void add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                            std::string& text);

    const analysis::Processes& processes_;
    symbols::Dsos& dsos_;
    bool inlines_;
    FrameTexts texts_;
};

}  // namespace anyperf::cli
