// machine_file.h: a modelled machine as JSON: the form that `--machine FILE` reads, and in which presets are shown.
//
//     { "base": "zen4",
//       "l1_data": { "bytes": 49152, "ways": 12, "replacement": "lru" },
//       "latencies": { "memory": 400 } }
//
// `base` names the preset from which the fields come that the file leaves out; the default is "skx". An unknown field
// is an error: it would be a setting without effect. docs/models.md lists the fields.
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
