// json.cpp: an annotated function for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/annotate/views.h"

namespace anyperf::cli {

namespace {

using Json = nlohmann::ordered_json;

Json line_as_json(const annotation::Line& line) {
    Json json{{"address", line.instruction.address},
              {"size", line.instruction.size},
              {"text", line.instruction.text},
              {"samples", line.heat.samples},
              {"period", line.heat.weight}};
    if (line.line == 0) return json;
    json["file"] = line.file;
    json["line"] = line.line;
    json["function"] = line.function;
    return json;
}

}  // namespace

std::string annotation_as_json(const AnnotatedEvent& shown, annotation::SourceText* source) {
    const annotation::Annotation& function = shown.annotation;
    Json json{{"event", shown.event},
              {"symbol", function.name},
              {"dso", function.path},
              {"build_id", function.build_id},
              {"begin", function.begin},
              {"end", function.end},
              {"samples", function.heat.samples},
              {"period", function.heat.weight},
              {"elsewhere", function.elsewhere.samples}};
    Json lines = Json::array(), code = Json::array();
    for (const HotLine& each : hot_lines(function)) {
        Json line{{"file", each.file}, {"line", each.line}};
        if (source) line["text"] = source->line(each.file, each.line);
        line["samples"] = each.heat.samples;
        line["period"] = each.heat.weight;
        lines.push_back(std::move(line));
    }
    if (!function.is_script)
        for (const annotation::Line& each : function.lines) code.push_back(line_as_json(each));
    json["lines"] = std::move(lines);
    json["code"] = std::move(code);
    // Names and source files need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace anyperf::cli
