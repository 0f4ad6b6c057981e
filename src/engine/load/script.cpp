// script.cpp: does what load_script() of fs/binfmt_script.c does, with its corner cases. An execve of the application
// must fail or succeed as the kernel's would, but the kernel sees only the engine's file.
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

bool is_nul(char c) {
    return c == 0;
}

bool ends_text(char c) {
    return c == '\n' || is_nul(c);
}

bool ends_name(char c) {
    return is_blank(c) || is_nul(c);
}

std::string_view without_leading_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

std::string_view without_trailing_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// The part of `text` before the first character for which `ends` is true; all of it if there is none.
std::string_view until(std::string_view text, bool (*ends)(char)) {
    std::size_t length = 0;
    while (length < text.size() && !ends(text[length])) ++length;
    text.remove_suffix(text.size() - length);
    return text;
}

/// The line as load_script() takes it: the text before the newline. If the buffer has no newline, it is the whole
/// buffer but its last byte, including the NULs after the end of a short file. So blanks at the end of such a file are
/// not trimmed but belong to the argument. Empty: the interpreter's name is missing, or the buffer may have cut it.
/// `buffer` begins after "#!".
std::string_view line_of(std::string_view buffer) {
    std::string_view line = until(buffer, ends_text);
    const bool has_newline = line.size() < buffer.size() && buffer[line.size()] == '\n';
    if (!has_newline) {
        const std::string_view name = without_leading_blanks(buffer);
        if (until(name, ends_name).size() == name.size()) return {};
        line = buffer;
        line.remove_suffix(1);
    }
    return without_leading_blanks(without_trailing_blanks(line));
}

}  // namespace

std::expected<bool, long> parse_script(const char* bytes, std::size_t count, ScriptLine& out) {
    if (count < 2 || bytes[0] != '#' || bytes[1] != '!') return false;
    char buffer[kScriptLineBytes]{};
    for (std::size_t i = 0; i < count && i < sizeof buffer; ++i) buffer[i] = bytes[i];
    const std::string_view line = line_of({buffer + 2, sizeof buffer - 2});
    if (line.empty()) return std::unexpected(ENOEXEC);
    const std::string_view interpreter = until(line, ends_name);
    if (interpreter.empty()) return std::unexpected(EACCES);  // the kernel opens "", which is the working directory
    std::string_view rest = line;
    rest.remove_prefix(interpreter.size());
    out.has_argument = !rest.empty() && is_blank(rest.front());
    copy(interpreter, out.interpreter);
    copy(until(without_leading_blanks(rest), is_nul), out.argument);
    return true;
}

}  // namespace anyperf::engine
