// terminal.h: the terminal of `top`, by ncurses. The only file that includes it is terminal.cpp: curses.h defines
// macros such as `timeout` and `move`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "anyperf/error.h"
#include "cli/top/view.h"

namespace anyperf::cli::top {

/// Takes the terminal over, and gives it back as it was.
class Terminal {
  public:
    /// Error: $TERM names a terminal that is not known.
    static Result<Terminal> open();
    Terminal(Terminal&& other) noexcept : open_(other.open_) { other.open_ = false; }
    Terminal& operator=(Terminal&&) = delete;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    std::size_t width() const;
    std::size_t height() const;
    /// Asks the kernel for the size; after SIGWINCH.
    void adapt_to_size();
    void draw(const std::vector<Line>& lines);
    /// The next key that was pressed; none without waiting.
    std::optional<Key> next_key();

  private:
    Terminal() = default;

    bool open_ = true;
};

}  // namespace anyperf::cli::top
