// report_texts.cpp: three ways of escaping, one for each kind of report. The texts are names of events and of commands,
// which users choose freely.
#include "cli/stat/gate/report_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace anyperf::cli::stat {

// In a table of GitHub's Markdown a '|' ends the cell, also inside of code, and a line end ends the row (GFM, 4.10).
std::string markdown_cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    std::ranges::replace(text, '\n', ' ');
    return text;
}

// A workflow command is one line ("::error title=T::MESSAGE"). The runner of GitHub Actions turns exactly these three
// escapes back (actions/toolkit, escapeData()).
std::string workflow_data(const std::string& text) {
    std::string escaped;
    for (const char character : text) {
        if (character == '%')
            escaped += "%25";
        else if (character == '\r')
            escaped += "%0D";
        else if (character == '\n')
            escaped += "%0A";
        else
            escaped += character;
    }
    return escaped;
}

// XML 1.0 has no place for most control characters, not even as references (2.2, Char). A tab and line ends are
// allowed, but an attribute would show them as blanks (3.3.3).
std::string xml_text(const std::string& text) {
    std::string escaped;
    for (const char character : text) switch (character) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += static_cast<unsigned char>(character) < ' ' ? '?' : character;
        }
    return escaped;
}

Result<GateReport> parse_report(std::string_view option, const std::string& text,
                                std::span<const std::string_view> formats) {
    const auto equals = text.find('=');
    const std::string format = text.substr(0, equals);
    const bool known = std::ranges::find(formats, format) != formats.end();
    if (known && equals != std::string::npos && equals + 1 < text.size())
        return GateReport{format, text.substr(equals + 1)};
    std::string names;
    for (const std::string_view each : formats) names += fmt::format("{}{}=FILE", names.empty() ? "" : ", ", each);
    return std::unexpected(Error{fmt::format("bad {} {}", option, text),
                                 known ? "it names no file" : "there is no such format", "give one of " + names});
}

// The last bytes are written by fclose() or fflush(), so a full disk may show only there.
Result<void> write_report_file(const std::string& file, const std::string& text, bool append) {
    const bool to_standard_output = file == "-";
    std::FILE* const out = to_standard_output ? stdout : std::fopen(file.c_str(), append ? "ae" : "we");
    bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    int cause = errno;
    if (out != nullptr && (to_standard_output ? std::fflush(out) : std::fclose(out)) != 0) {
        written = false;
        cause = errno;
    }
    if (written) return {};
    return std::unexpected(Error{"cannot write the report to " + file, std::generic_category().message(cause),
                                 "free disk space, or name another file"});
}

}  // namespace anyperf::cli::stat
