// report_texts.h: what reports for CI systems have in common: how their formats escape text, and how their files are
// written.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "anyperf/error.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// A cell of a Markdown table: a bar would end the cell, and a line feed the row.
std::string markdown_cell(std::string text);

/// The data of a workflow command: "%", CR and LF are escaped (GitHub, "Workflow commands"). A runner reads a command
/// up to the end of its line. Without the escapes a line break in the name of a program could begin another command.
std::string workflow_data(const std::string& text);

/// Text and attributes of XML. Most control characters are not allowed in XML 1.0 even if they are escaped. All of them
/// become "?", also tabs and line breaks.
std::string xml_text(const std::string& text);

/// "FORMAT=FILE" as the value of `option`. Error: it is none of `formats`, or names no file.
Result<GateReport> parse_report(std::string_view option, const std::string& text,
                                std::span<const std::string_view> formats);

/// Writes a report to its file; "-" is standard output. Error: the file cannot be written.
Result<void> write_report_file(const std::string& file, const std::string& text, bool append);

}  // namespace anyperf::cli::stat
