// views.h: the output formats of `anyperf annotate`.
#pragma once

#include <cstdint>
#include <string>

#include "annotation/annotate.h"
#include "annotation/source_text.h"

namespace anyperf::cli {

/// An annotated function with what its event is.
struct AnnotatedEvent {
    std::string event;
    std::uint64_t weight = 0;  ///< of all samples of the event
    annotation::Annotation annotation;
};

/// The hottest lines, then instructions with their share of the function's weight below the source that they come from,
/// as perf annotate --stdio lays it out.
std::string annotation_as_text(const AnnotatedEvent& shown, annotation::SourceText* source);

/// One object: "event", "symbol", "dso", "build_id", "samples", "period", "lines" and "code".
std::string annotation_as_json(const AnnotatedEvent& shown, annotation::SourceText* source);

/// A source line with the sum of its instructions.
struct HotLine {
    std::string file;
    std::uint32_t line = 0;
    annotation::Heat heat;
};

/// The lines with samples, the hottest first.
std::vector<HotLine> hot_lines(const annotation::Annotation& annotation);

}  // namespace anyperf::cli
