// machine_file.h: a modelled machine as JSON: what `--machine FILE` reads, and what shows a preset.
//
//     { "base": "zen4",
//       "l1_data": { "bytes": 49152, "ways": 12, "replacement": "lru" },
//       "latencies": { "memory": 400 } }
//
// `base` names the preset that gives every field that the file leaves out; without it the base is "skx". An unknown
// field is an error, because it would otherwise be a setting that does nothing. docs/models.md lists the fields.
#pragma once

#include <string>
#include <string_view>

#include "anyperf/error.h"
#include "models/machine.h"

namespace anyperf::models {

/// Reads a machine from the text of a file.
/// @param path the file's name, for errors
/// @returns an error that names the field, the value and the limit
Result<Machine> parse_machine(std::string_view text, std::string_view path);

/// The whole machine as JSON that parse_machine() reads back as the same machine.
std::string machine_text(const Machine& machine);

}  // namespace anyperf::models
