// view.h: what `top` shows: a table of the hottest functions, the code of one of them, its callers, or the keys. It
// knows no terminal: it gets keys and a size, and gives lines, so that a test can read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "annotation/annotate.h"
#include "annotation/source_text.h"
#include "profile/profile.h"
#include "profile/rows.h"
#include "profile/sample_filter.h"
#include "symbols/dso.h"

namespace anyperf::cli::top {

/// A key: one of those with a name, or the character of any other.
struct Key {
    enum class Named : std::uint8_t { none, up, down, page_up, page_down, home, end, enter, escape, backspace };
    Named named = Named::none;
    char letter = 0;
};

/// A line of the screen.
struct Line {
    enum class Style : std::uint8_t { plain, head, selected, hot, warm, faint };
    std::string text;
    Style style = Style::plain;
};

struct ViewOptions {
    std::vector<profile::Key> keys{profile::Key::comm, profile::Key::dso, profile::Key::symbol};
    bool children = false;  ///< call chains are recorded: totals and callers can be shown
    bool hide_kernel = false, hide_user = false;
    bool sample_counts = false, periods = false;  ///< columns
    double percent_limit = 0.0;                   ///< rows with a smaller share are left out
    profile::SampleFilter filter{};               ///< other samples are left out, and count as a part of the whole
    std::uint64_t delay_ms = 2000;
    symbols::SymbolPaths paths;
};

class View {
  public:
    /// What the caller is to do after a key.
    enum class Wish : std::uint8_t { none, quit, forget };

    explicit View(ViewOptions options);

    /// Shows this profile from now on, unless the view is paused.
    void show(profile::Profile profile);
    Wish press(Key key);
    /// The whole screen: `height` lines of at most `width` columns.
    std::vector<Line> render(std::size_t width, std::size_t height);
    /// Of the event that is shown, all rows as text without a selection, at most `most`: for output that is no
    /// terminal.
    std::string table(std::size_t most);

    /// A message in the last line, until the next key.
    void say(std::string message) { message_ = std::move(message); }
    /// Time between two profiles.
    std::uint64_t delay_ms() const { return options_.delay_ms; }
    void mark_ended() { ended_ = true; }
    bool has_samples() const { return rows_.samples > 0; }

  private:
    enum class Pane : std::uint8_t { table, text, help };
    enum class Input : std::uint8_t { none, filter, delay };

    /// Whether key_texts of a row contain the filter, and its mode is not hidden.
    bool shows(const profile::Row& row) const;
    profile::EventId event() const { return {events_[event_]}; }
    void sum_up();
    void press_in_table(Key key);
    void press_in_text(Key key);
    void press_in_input(Key key);
    void finish_input();
    void open_code();
    void open_callers();
    void select(std::size_t row);
    std::string head() const;
    std::string row_text(const profile::Row& row, const std::vector<std::size_t>& widths) const;
    std::vector<std::size_t> column_widths(std::size_t first, std::size_t count) const;
    std::string title(const std::vector<std::size_t>& widths) const;
    std::vector<Line> render_table(std::size_t height);
    std::vector<Line> render_text(std::size_t height);

    ViewOptions options_;
    profile::Profile profile_;
    profile::Rows rows_;                 // of the event, filtered
    std::vector<profile::Key> keys_;     // of the table now
    std::vector<bool> admitted_;         // samples of the profile, if there is a filter
    std::vector<std::uint32_t> events_;  // of the profile, without those that only record names and maps
    std::size_t event_ = 0;              // index in events_
    std::size_t selected_ = 0, first_ = 0, page_ = 1;
    Pane pane_ = Pane::table;
    Input input_ = Input::none;
    std::string typed_, filter_, message_;
    std::vector<Line> text_;  // of the pane `text`
    std::size_t text_first_ = 0;
    bool paused_ = false, ended_ = false;
    annotation::Annotator annotator_;
    annotation::SourceText source_;
};

}  // namespace anyperf::cli::top
