// printer.h: the lines of `anyperf script`. Each different frame is made into text once and then copied: most of perf's
// time goes into formatting the same frames again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "cli/output/output.h"
#include "cli/script/fields.h"
#include "cli/script/frame_texts.h"
#include "perfdata/reader.h"
#include "profile/strings.h"
#include "symbols/dso.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

/// Frames are named while the records are read, with the maps of that moment. A process that replaces a map gets a new
/// space (analysis/processes.h), so the cached text of a frame stays right. The space of the kernel has no versions.
class ScriptPrinter final : public perfdata::Consumer {
  public:
    struct Options {
        std::optional<ChosenFields> chosen;  ///< nothing: each event has the fields of default_fields()
        bool inlines = true;                 ///< functions that were inlined are frames of call chains
    };
    ScriptPrinter(const perfdata::Reader& reader, const symbols::SymbolPaths& paths, Options options, Output& out);

    void sample(const perfdata::Sample& sample, std::size_t event) override;
    void record(const perfdata::Record& record) override { processes_.follow(record); }

    /// Prints what is still in the buffer.
    void flush();
    /// Notes the recorded files that are not at their places any more, or have been replaced: their frames are unnamed.
    void note_lost_files();

  private:
    /// The chain that was printed last, with its text: the next one mostly has the same outer frames.
    struct PrintedChain {
        analysis::SpaceId space = 0;
        std::size_t event = 0;
        struct Word {
            std::uint64_t word = 0;  ///< of the sample: an address or a marker
            std::size_t text = 0;    ///< where in `text` that begins which was printed of this word and those after it
            analysis::RawFrame::Mode mode = analysis::RawFrame::user;
            bool caller = false;  ///< a frame came before it
        };
        std::vector<Word> words{};
        std::string text{};
    };

    const Fields& fields_of(std::size_t event);
    void print_head(const perfdata::Sample& sample, std::size_t event, const Fields& fields);
    void print_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space, const Fields& fields);
    std::size_t common_end(const perfdata::Numbers& chain) const;
    void copy_end_of_last_chain(std::size_t from, std::size_t begin);
    bool print_plain_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                           const Fields& fields);
    void print_copied_stack(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                            const Fields& fields);
    /// The text of a frame, from the cache or made now. Valid until the next call. `fields` are the same in all calls
    /// for one key.
    std::string_view frame(const FrameKey& key, const Fields& fields);
    std::string frame_text(const FrameKey& key, const Fields& fields);
    struct Place;
    std::vector<symbols::SourceFrame> source_frames(const Place& place, const Fields& fields);
    void add_address(const Place& place, const Fields& fields, std::string& text) const;
    void add_symbol(const Place& place, const Fields& fields, std::string& text) const;
    void add_inlined(const Place& place, const symbols::SourceFrame& frame, const Fields& fields,
                     std::string& text) const;
    static void add_line(const symbols::SourceLine& at, std::string& text);
    void print_number(std::uint64_t number, int width);
    void print_time(std::uint64_t time_ns);

    const perfdata::Reader& reader_;
    Output& out_;
    Options options_;
    std::vector<Fields> fields_;  // by event
    std::size_t name_width_ = 0;  // of the longest event name
    profile::Strings strings_;
    symbols::Dsos dsos_;
    analysis::Processes processes_;
    unwind::Unwinder unwinder_;
    std::vector<std::uint64_t> registers_, unwound_;  // of one sample
    FrameTexts frames_;
    PrintedChain last_chain_, this_chain_;
    std::string buffer_;
};

}  // namespace anyperf::cli
