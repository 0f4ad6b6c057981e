// printer.h: the lines of `anyperf script`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/jit_code.h"
#include "analysis/processes.h"
#include "analysis/raw_stacks.h"
#include "analysis/tracing/trace_texts.h"
#include "cli/output/output.h"
#include "cli/script/admission.h"
#include "cli/script/event_files.h"
#include "cli/script/fields.h"
#include "cli/script/frame_writer.h"
#include "cli/script/side_band_text.h"
#include "perfdata/reader.h"
#include "profile/strings.h"
#include "symbols/dso.h"
#include "unwind/unwinder.h"

namespace anyperf::cli {

class ScriptPrinter final : public perfdata::Consumer {
  public:
    static constexpr std::size_t kAllFrames = ~std::size_t{0};
    struct Options {
        std::optional<ChosenFields> chosen;  ///< nothing: each event has the fields of default_fields()
        FrameWriter::Options frames{};
        bool call_chains = true;               ///< false: of each sample only its own address
        std::size_t most_frames = kAllFrames;  ///< of a call chain, from the innermost on; inlined ones not counted
        enum class Times : std::uint8_t { absolute, since_first, since_last } times = Times::absolute;
        std::vector<std::string> last_functions{};  ///< a call chain ends with the first frame of one of these
        bool nanoseconds = false;                   ///< times have nine decimals instead of six
        ShownRecords records{};                     ///< what is printed besides samples
        Filters filters{};                          ///< which samples are printed
        bool buffered = true;                       ///< false: each sample is printed at once
        EventFiles* files = nullptr;                ///< --per-event-dump
    };
    ScriptPrinter(const perfdata::Reader& reader, const symbols::SymbolPaths& paths, Options options, Output& out);

    void sample(const perfdata::Sample& sample, std::size_t event) override;
    void record(const perfdata::Record& record) override;

    void user_record(perfdata::RecordType type, perfdata::Bytes, bool) override;

    /// Prints what is still in the buffer.
    void flush();
    /// Notes the recorded files that are not at their places any more, or have been replaced: their frames are unnamed.
    void note_lost_files();

  private:
    /// The chain that was printed last, whose text is in buffer_: the next one mostly has the same outer frames.
    struct PrintedChain {
        analysis::SpaceId space = 0;
        std::size_t event = 0;
        struct Word {
            std::uint64_t word = 0;  ///< of the sample: an address or a marker
            std::uint32_t text = 0;  ///< where the text of this word and of those after it begins
            std::uint8_t mode = analysis::RawFrame::user;
            bool caller = false;  ///< a frame came before it
        };
        std::vector<Word> words{};
        std::size_t end = 0;  ///< of the text
    };

    /// What the text of a task depends on.
    struct TaskKey {
        std::uint32_t pid = 0, tid = 0;
        std::size_t event = 0;
        std::uint64_t version = 0;  ///< of the processes: a thread may get another name
        bool operator==(const TaskKey&) const = default;
    };

    const Fields& fields_of(std::size_t event);
    void print_record(const perfdata::Record& record);
    bool has_chain(std::size_t event) const;
    void print_task_and_time(const perfdata::Sample& sample, const Fields& fields);
    void print_head(const perfdata::Sample& sample, std::size_t event, const Fields& fields);
    void make_task_text(const perfdata::Sample& sample, std::uint32_t named, bool chain, const Fields& fields);
    void print_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space, const Fields& fields);
    bool ends_with(const FrameKey& frame);
    std::size_t common_end(const perfdata::Numbers& chain) const;
    void announce_frames(const perfdata::Numbers& chain, std::size_t words, analysis::SpaceId space);
    void copy_end_of_last_chain(std::size_t from);
    bool print_plain_chain(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                           const Fields& fields);
    void print_copied_stack(const perfdata::Sample& sample, std::size_t event, analysis::SpaceId space,
                            const Fields& fields);
    void print_registers(const perfdata::Sample& sample, std::size_t event, const Fields& fields);
    void print_branches(const perfdata::Sample& sample, const Fields& fields, Field form);
    void print_instruction(const perfdata::Sample& sample, const Fields& fields);
    void begin_lines(std::optional<std::size_t> of_event);
    void print_data_source(std::uint64_t data_source);
    void print_mode(std::uint16_t misc);
    void make_event_text(std::uint64_t period, std::size_t event, const Fields& fields);
    /// `width`: at most 20.
    static void append_number(std::uint64_t number, std::size_t width, std::string& to);
    void print_time(std::uint64_t time_ns);
    void print_time_of_day(std::uint64_t time_ns);

    const perfdata::Reader& reader_;
    Output& out_;
    Options options_;
    std::vector<Fields> fields_;         // by event
    std::size_t name_width_ = 0;         // of the longest event name
    std::size_t data_source_width_ = 0;  // of the longest one so far
    profile::Strings strings_;
    symbols::Dsos dsos_;
    analysis::Processes processes_;
    analysis::JitCodes jit_codes_;
    Admission admission_;
    analysis::TraceTexts traces_;
    unwind::Unwinder unwinder_;
    std::vector<std::uint64_t> registers_, unwound_;  // of one sample
    FrameWriter frames_;
    TaskKey task_key_;
    analysis::SpaceId task_space_ = 0;
    std::string task_text_;   // of task_key_; empty before the first sample, and if no field shows the task
    std::string event_text_;  // the period and the event's name, of the next two
    std::uint64_t event_period_ = 0;
    std::size_t text_event_ = 0;
    std::string seconds_text_;  // of last_seconds_
    std::uint64_t last_seconds_ = 0;
    PrintedChain last_chain_, this_chain_;
    std::optional<std::uint64_t> first_time_, last_time_;  // of what was printed, for Options::times
    std::string buffer_;
    std::optional<std::size_t> buffer_event_;  // with Options::files: whose lines are in the buffer; none: of records
    std::uint64_t buffer_samples_ = 0;
};

}  // namespace anyperf::cli
