// report_texts.h: what reports for CI systems have in common: how their formats escape text, and how their files are
// written.
#pragma once

#include <string>

#include "anyperf/error.h"

namespace anyperf::cli::stat {

/// A cell of a Markdown table: a bar would end the cell, and a line feed the row.
std::string markdown_cell(std::string text);

/// The data of a workflow command: "%", CR and LF are escaped (GitHub, "Workflow commands").
std::string workflow_data(const std::string& text);

/// Text and attributes of XML. Control characters are not XML, and become "?".
std::string xml_text(const std::string& text);

/// Writes a report to its file; "-" is standard output. Error: the file cannot be written.
Result<void> write_report_file(const std::string& file, const std::string& text, bool append);

}  // namespace anyperf::cli::stat
