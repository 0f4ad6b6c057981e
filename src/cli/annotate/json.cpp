// json.cpp: an annotated function for programs.
#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/annotate/views.h"

namespace anyperf::cli {

namespace {

using Json = nlohmann::ordered_json;

Json heat_as_json(const annotation::Heat& heat) {
    return {{"samples", heat.samples}, {"period", heat.weight}};
}

Json line_as_json(const AnnotatedEvent& shown, std::size_t index) {
    const annotation::Line& line = shown.annotation.lines[index];
    Json json{{"address", line.instruction.address},
              {"size", line.instruction.size},
              {"text", line.instruction.text},
              {"samples", line.heat.samples},
              {"period", line.heat.weight}};
    for (const AnnotatedEvent& other : shown.others)
        json["others"].push_back(heat_as_json(heat_beside(shown, other, index)));
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
    for (const AnnotatedEvent& other : shown.others) {
        Json json_of_other{{"event", other.event}};
        json_of_other.update(heat_as_json(other.annotation.heat));
        json_of_other["elsewhere"] = other.annotation.elsewhere.samples;
        json["others"].push_back(std::move(json_of_other));
    }
    Json lines = Json::array(), code = Json::array();
    for (const HotLine& each : hot_lines(function)) {
        Json line{{"file", each.file}, {"line", each.line}};
        if (source) line["text"] = source->line(each.file, each.line);
        line["samples"] = each.heat.samples;
        line["period"] = each.heat.weight;
        lines.push_back(std::move(line));
    }
    if (!function.is_script)
        for (std::size_t i = 0; i < function.lines.size(); ++i) code.push_back(line_as_json(shown, i));
    json["lines"] = std::move(lines);
    json["code"] = std::move(code);
    // Names and source files need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace anyperf::cli
