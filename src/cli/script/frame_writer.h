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

/// Where an address is: its function with the offset in it, and its file; "[unknown]" if that is not known.
struct FramePlace {
    std::string name;
    std::string file;
    std::uint64_t offset = 0;  ///< in the file; without one, and in the kernel, the address
};

/// Frames are named while the records are read, with the maps of that moment. A process that replaces a map gets a new
/// space (analysis/processes.h), so the kept text of a frame stays right. A frame that no map has is not kept: a map
/// may be added there. The space of the kernel has no versions.
class FrameWriter {
  public:
    struct Options {
        bool inlines = true;              ///< functions that were inlined are frames of call chains
        bool whole_source_paths = false;  ///< source lines have the directories of files
    };
    /// The first two arguments must outlive it.
    FrameWriter(const analysis::Processes& processes, symbols::Dsos& dsos, Options options)
        : processes_(processes), dsos_(dsos), options_(options), empty_regions_(processes) {}

    /// Appends a line for each function that is active at the address, the innermost first. Of a lone sample it has no
    /// end. `fields` are the same in all calls for one key.
    void append(FrameKey key, const Fields& fields, std::string& text);

    /// Looks up the frames of a chain together: what is known of them is at places all over the memory, and these are
    /// fetched at the same time. In the order of the calls of announce(), append_announced() does the same as append().
    void begin_announcing() { announced_.clear(); }
    void announce(const FrameKey& key) { announced_.push_back({normalized(key)}); }
    void look_up_announced();
    std::size_t announced() const { return announced_.size(); }
    void append_announced(std::size_t which, const Fields& fields, std::string& text) {
        const Announced& frame = announced_[which];
        if (frame.unmapped) return append_unmapped(frame.key, fields, text);
        if (frame.form == FrameTexts::kNone || announced_version_ != texts_.version())
            return append(frame.key, fields, text);
        texts_.append(texts_.form(frame.form), frame.key.address, text);
    }

    /// The function of a frame as it is shown; "[unknown]" if that is not known.
    std::string function(const FrameKey& key);

    /// An address without a frame's text: that of a branch.
    FramePlace place(std::uint64_t address, analysis::SpaceId space);

    /// The bytes of the instruction at the frame's address, read from its file. Empty if the address belongs to no
    /// file, or if the file has no x86 code.
    symbols::Bytes instruction(const FrameKey& key);

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
    /// A frame of look_up_announced().
    struct Announced {
        FrameKey key;
        std::uint32_t form = FrameTexts::kNone;  ///< of texts_, if it is known
        bool unmapped = false;
    };
    /// What the form of a frame of one line follows from.
    struct Origin {
        const symbols::Dso* dso = nullptr;
        const symbols::Symbol* symbol = nullptr;
        std::uint64_t moved = 0;   ///< the offset in the file, minus the address
        std::uint64_t within = 0;  ///< the offset in the symbol, minus the address
        bool in_chain = false;
        Fields fields;
        bool operator==(const Origin&) const = default;
    };
    struct OriginHash {
        std::size_t operator()(const Origin& origin) const;
    };
    /// The form of frames that no map has.
    struct Unmapped {
        Fields fields;
        FrameForm form;
        std::uint64_t version = ~std::uint64_t{0};  ///< of texts_
    };
    /// "[unknown]" twice, and what is around names.
    static constexpr std::size_t kMostBesidesNames = 64;

    /// Kernel frames are the same in all processes, so they have one key.
    static FrameKey normalized(FrameKey key) {
        if (key.mode != analysis::RawFrame::user) key.space = 0;
        return key;
    }
    bool is_unmapped(const FrameKey& key) {
        return key.mode == analysis::RawFrame::user && empty_regions_.has(key.address, key.space);
    }
    Place place_of(const FrameKey& key, bool names);
    void append_unmapped(const FrameKey& key, const Fields& fields, std::string& text);
    bool append_form(const Place& place, const Fields& fields, std::string& text);
    void forget_old();
    static FrameForm form_of(const Place& place, const Fields& fields, KeptText head, KeptText tail);
    template <class Make>
    std::optional<KeptText> kept(const void* of, const Place& place, const Fields& fields, Make&& make);
    std::optional<KeptText> head_of(const Place& place, const Fields& fields);
    std::optional<KeptText> tail_of(const Place& place, const Fields& fields);
    void make_text(const Place& place, const std::vector<symbols::SourceFrame>& frames, const Fields& fields,
                   std::string& text);
    std::vector<symbols::SourceFrame> source_frames(const Place& place, const Fields& fields);
    static void add_address(const Place& place, const Fields& fields, std::string& text);
    void add_symbol(const Place& place, const Fields& fields, std::string& text) const;
    void add_line(const symbols::SourceLine& at, std::string& text) const;
    std::string name_of(const Place& place) const;
    static std::string dso_text(const Place& place, const Fields& fields);
    void add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                     std::string& text) const;

    const analysis::Processes& processes_;
    symbols::Dsos& dsos_;
    Options options_;
    EmptyRegions empty_regions_;
    FrameTexts texts_;
    std::vector<Announced> announced_;
    std::uint64_t announced_version_ = 0;  // of texts_
    std::unordered_map<TextKey, KeptText, TextHash> kept_;
    std::unordered_map<Origin, std::uint32_t, OriginHash> forms_;  // numbers in texts_
    std::uint64_t kept_version_ = 0;                               // of texts_, to which both belong
    std::array<Unmapped, 2> unmapped_;                             // of lone samples, and of call chains
};

}  // namespace anyperf::cli
