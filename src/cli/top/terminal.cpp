// terminal.cpp: ncurses, with as little of it as a list of lines needs. The library keeps its state in globals, so
// there is one Terminal at a time. The whole screen is written at each draw(): curses compares it with what the
// terminal shows and sends the difference only.
#include "cli/top/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>

// After all others: its macros have short names. NCURSES_NOMACROS leaves out those that are functions, too.
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace anyperf::cli::top {

namespace {

// Pairs of colours, by Line::Style.
constexpr short kHotPair = 1, kWarmPair = 2;

chtype attribute_of(Line::Style style) {
    switch (style) {
        case Line::Style::head: return A_BOLD;
        case Line::Style::selected: return A_REVERSE;
        case Line::Style::faint: return A_DIM;
        case Line::Style::hot: return COLOR_PAIR(kHotPair) | A_BOLD;
        case Line::Style::warm: return COLOR_PAIR(kWarmPair);
        case Line::Style::plain: break;
    }
    return A_NORMAL;
}

struct KeyRow {
    int code;
    Key::Named named;
};
constexpr std::array kKeys{
    KeyRow{KEY_UP, Key::Named::up},
    KeyRow{KEY_DOWN, Key::Named::down},
    KeyRow{KEY_PPAGE, Key::Named::page_up},
    KeyRow{KEY_NPAGE, Key::Named::page_down},
    KeyRow{KEY_HOME, Key::Named::home},
    KeyRow{KEY_END, Key::Named::end},
    KeyRow{KEY_ENTER, Key::Named::enter},
    KeyRow{'\n', Key::Named::enter},
    KeyRow{'\r', Key::Named::enter},
    KeyRow{0x1b, Key::Named::escape},
    KeyRow{KEY_BACKSPACE, Key::Named::backspace},
    KeyRow{0x7f, Key::Named::backspace},
    KeyRow{'\b', Key::Named::backspace},
};

}  // namespace

// newterm() returns null for an unknown terminal, where initscr() would end the process. The locale decides whether the
// letters of UTF-8 are shown. cbreak() passes each key on at once and leaves Ctrl-C a signal (raw() would not).
// keypad() makes one code of the bytes that an arrow key sends; nodelay() lets wgetch() return without a key.
Result<Terminal> Terminal::open() {
    std::setlocale(LC_CTYPE, "");
    if (::newterm(nullptr, stdout, stdin) == nullptr) {
        const char* name = std::getenv("TERM");
        return std::unexpected(Error{"cannot use this terminal",
                                     std::string{"there is no description of TERM="} + (name ? name : "(not set)"),
                                     "set TERM, or give --stdio"});
    }
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, true);
    ::nodelay(stdscr, true);
    ::curs_set(0);
    ::set_escdelay(50);  // ms: a single escape is a key, not the beginning of one
    if (::has_colors()) {
        ::start_color();
        ::use_default_colors();
        ::init_pair(kHotPair, COLOR_RED, -1);
        ::init_pair(kWarmPair, COLOR_GREEN, -1);
    }
    return Terminal{};
}

Terminal::~Terminal() {
    if (open_) ::endwin();
}

std::size_t Terminal::width() const {
    return static_cast<std::size_t>(::getmaxx(stdscr));
}

std::size_t Terminal::height() const {
    return static_cast<std::size_t>(::getmaxy(stdscr));
}

// The kernel knows the size first. curses would ask only in its own handler of SIGWINCH, which top blocks.
void Terminal::adapt_to_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        ::resizeterm(size.ws_row, size.ws_col);
}

void Terminal::draw(const std::vector<Line>& lines) {
    ::werase(stdscr);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        ::wattrset(stdscr, static_cast<int>(attribute_of(lines[i].style)));
        ::mvwaddnstr(stdscr, static_cast<int>(i), 0, lines[i].text.c_str(), static_cast<int>(lines[i].text.size()));
    }
    ::wattrset(stdscr, A_NORMAL);
    ::wrefresh(stdscr);
}

std::optional<Key> Terminal::next_key() {
    const int code = ::wgetch(stdscr);
    if (code == ERR) return std::nullopt;
    for (const KeyRow& row : kKeys)
        if (row.code == code) return Key{.named = row.named};
    if (code < ' ' || code > '~') return Key{};
    return Key{.letter = static_cast<char>(code)};
}

}  // namespace anyperf::cli::top
