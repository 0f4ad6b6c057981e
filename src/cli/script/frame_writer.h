// frame_writer.h: frames as text ("ip symbol+0x1 (dso)"). Each different frame is made into text once and then copied:
// most of perf's time goes into formatting the same frames again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/processes.h"
#include "cli/script/empty_regions.h"
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
        : processes_(processes), dsos_(dsos), inlines_(inlines), empty_regions_(processes) {}

    /// Appends a line for each function that is active at the address, the innermost first. Of a lone sample it has no
    /// end. `fields` are the same in all calls for one key.
    void append(FrameKey key, const Fields& fields, std::string& text);
    /// Says that the same key will soon be given to append().
    void announce(FrameKey key) {
        const bool user = key.mode == analysis::RawFrame::user;
        if (!user) key.space = 0;
        if (!user || !empty_regions_.has(key.address, key.space)) texts_.prefetch(key);
    }

  private:
    struct Place;
    /// A text that is kept: that of a symbol or of a file, which depends on the fields, too.
    struct TextKey {
        const void* of = nullptr;
        bool in_chain = false;
        Fields fields;
        bool operator==(const TextKey&) const = default;
    };
    struct TextHash {
        std::size_t operator()(const TextKey& key) const { return std::hash<const void*>{}(key.of) >> 4; }
    };
    /// The form of frames that no map has.
    struct Unmapped {
        Fields fields;
        FrameForm form;
        std::uint64_t version = ~std::uint64_t{0};  ///< of texts_
    };
    /// "[unknown]" twice, and what is around names.
    static constexpr std::size_t kMostBesidesNames = 64;

    Place place_of(const FrameKey& key, bool names);
    void append_unmapped(const FrameKey& key, const Fields& fields, std::string& text);
    bool append_form(const Place& place, const Fields& fields, std::string& text);
    static FrameForm form_of(const Place& place, const Fields& fields, KeptText head, KeptText tail);
    template <class Make>
    std::optional<KeptText> kept(const void* of, const Place& place, const Fields& fields, Make&& make);
    std::optional<KeptText> head_of(const Place& place, const Fields& fields);
    std::optional<KeptText> tail_of(const Place& place, const Fields& fields);
    void make_text(const Place& place, const std::vector<symbols::SourceFrame>& frames, const Fields& fields,
                   std::string& text);
    std::vector<symbols::SourceFrame> source_frames(const Place& place, const Fields& fields);
    static void add_address(const Place& place, const Fields& fields, std::string& text);
    static void add_symbol(const Place& place, const Fields& fields, std::string& text);
    static std::string name_of(const Place& place);
    static std::string dso_text(const Place& place, const Fields& fields);
    static void add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                            std::string& text);

    const analysis::Processes& processes_;
    symbols::Dsos& dsos_;
    bool inlines_;
    EmptyRegions empty_regions_;
    FrameTexts texts_;
    std::unordered_map<TextKey, KeptText, TextHash> kept_;
    std::uint64_t kept_version_ = 0;
    std::array<Unmapped, 2> unmapped_;  // of lone samples, and of call chains
};

}  // namespace anyperf::cli
