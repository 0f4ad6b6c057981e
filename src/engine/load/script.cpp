// script.cpp: see script.h.
#include "engine/load/script.h"

#include <errno.h>

#include <string_view>

namespace anyperf::engine {

namespace {

void copy(std::string_view from, char* to) {
    for (const char c : from) *to++ = c;
    *to = 0;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// The part of `text` before the first character that `ends` accepts; all of it where none does.
std::string_view until(std::string_view text, bool (*ends)(char)) {
    std::size_t length = 0;
    while (length < text.size() && !ends(text[length])) ++length;
    text.remove_suffix(text.size() - length);
    return text;
}

bool ends_line(char c) {
    return c == '\n' || c == 0;
}

}  // namespace

std::expected<bool, long> parse_script(const char* bytes, std::size_t count, ScriptLine& out) {
    std::string_view text{bytes, count < kScriptLine ? count : kScriptLine};
    if (text.size() < 2 || text[0] != '#' || text[1] != '!') return false;
    text.remove_prefix(2);
    const std::string_view whole = until(text, ends_line);
    const std::string_view line = trimmed(whole);
    std::string_view rest = line;
    const std::string_view interpreter = until(line, is_blank);
    rest.remove_prefix(interpreter.size());
    // A line that does not end within what the kernel reads is accepted only where the interpreter's name certainly
    // did.
    const bool cut = whole.size() == text.size() && count >= kScriptLine;
    if (interpreter.empty() || (cut && rest.empty())) return std::unexpected(ENOEXEC);
    copy(interpreter, out.interpreter);
    copy(trimmed(rest), out.argument);
    return true;
}

}  // namespace anyperf::engine
