// idle_text.h: a text of the kernel's in which it counts what the machine does, as it is on a machine that does
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace anyperf::engine {

/// Whether the word is a decimal number: "12", "-3", "0.25".
inline bool is_number(std::string_view word) {
    if (word.starts_with('-')) word.remove_prefix(1);
    const auto part_of_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
    return !word.empty() && word.front() != '.' && std::ranges::all_of(word, part_of_number);
}

/// Adds the text with 0 for each number: of the words "total", "12" and "N0=12" the second and the end of the third.
/// How many blanks are before a number depends on its digits, so there is one.
template <class Out>
void put_idle(std::string_view text, Out& out) {
    while (!text.empty()) {
        const std::string_view blanks = text.substr(0, std::min(text.find_first_not_of(" \t\n"), text.size()));
        text.remove_prefix(blanks.size());
        const std::string_view word = text.substr(0, std::min(text.find_first_of(" \t\n"), text.size()));
        text.remove_prefix(word.size());
        const std::size_t name = word.find('=') + 1;  // 0 if there is none
        std::string_view number = word;
        number.remove_prefix(name);
        const bool counts = is_number(number);
        out.text(counts && blanks.ends_with(' ') ? blanks.substr(0, blanks.find_last_not_of(' ') + 1) : blanks);
        if (counts && blanks.ends_with(' ')) out.text(" ");
        out.text(counts ? word.substr(0, name) : word);
        if (counts) out.text("0");
    }
}

/// Whether the line of smaps or smaps_rollup says how much memory is used: "Rss:                 120 kB". Which pages
/// are in memory depends on the page cache and on the engine.
inline bool is_usage(std::string_view line) {
    constexpr std::array<std::string_view, 3> kFixed{"Size:", "KernelPageSize:", "MMUPageSize:"};
    return line.ends_with(" kB\n") && std::ranges::none_of(kFixed, [&](auto name) { return line.starts_with(name); });
}

/// Adds such a line with 0 kB.
template <class Out>
void put_no_usage(std::string_view line, Out& out) {
    constexpr std::size_t kColumns = 23;  // before the last digit: SEQ_PUT_DEC() of fs/proc/task_mmu.c
    const std::string_view name = line.substr(0, std::min(line.find(' '), line.size()));
    out.text(name);
    for (std::size_t i = name.size(); i < kColumns; ++i) out.text(" ");
    out.text("0 kB\n");
}

}  // namespace anyperf::engine
