// views.h: the output formats of `anyperf annotate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "annotation/annotate.h"
#include "annotation/source_text.h"

namespace anyperf::cli {

/// An annotated function with the event whose samples it shows.
struct AnnotatedEvent {
    std::string event;
    annotation::Heat heat;  ///< of all samples of the event, in all functions
    annotation::Annotation annotation;
    /// Of a group that is shown together: the same function with the samples of the other events.
    std::vector<AnnotatedEvent> others{};
};

/// The samples of one of `others` at a line of the event that leads them. Instructions are at the same index, lines of
/// a script are found by their numbers.
annotation::Heat heat_beside(const AnnotatedEvent& leader, const AnnotatedEvent& other, std::size_t line);

/// What the text shows of an instruction.
struct ShownParts {
    bool samples = false;
    bool periods = false;
    bool bytes = false;        ///< of the instruction
    bool directories = false;  ///< of source files
    // What per cent are of:
    bool of_samples = false;  ///< their number; false: their weight
    bool of_event = false;    ///< of all functions; false: of this one
};

/// The hottest source lines, then the instructions, each with its share of the function or of the event and below its
/// source line, as perf annotate --stdio lays them out; of a group with the numbers of each event. `source` has the
/// text of source lines; null: it is not shown.
std::string annotation_as_text(const AnnotatedEvent& shown, annotation::SourceText* source, ShownParts parts = {});

/// One object: "event", "symbol", "dso", "build_id", "begin", "end", "samples", "period", "elsewhere" (samples where no
/// instruction begins), "lines" (see hot_lines()) and "code" (a row for each instruction). `source` has the "text" of
/// "lines"; null: they have none. Of a group "others" has the other events, and each row of "code" their numbers.
std::string annotation_as_json(const AnnotatedEvent& shown, annotation::SourceText* source);

/// A source line with the sum of the samples of its instructions.
struct HotLine {
    std::string file;
    std::uint32_t line = 0;
    annotation::Heat heat;
};

/// The source lines with samples, the hottest first.
std::vector<HotLine> hot_lines(const annotation::Annotation& annotation);

}  // namespace anyperf::cli
