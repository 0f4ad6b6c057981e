// machine_facts.h: what a recording says about the machine and the command, as perf's feature sections have it.
#pragma once

#include <string>
#include <vector>

#include "host/root.h"
#include "perfdata/facts.h"

namespace anyperf::recording {

/// The facts about the machine below `root`. `command_line` is that of the recorder. A file that cannot be read leaves
/// its fact unknown, and the recording lacks that section; nothing fails. Host name, release and architecture are of
/// this machine, by uname(2), whatever the root.
perfdata::Facts machine_facts(const host::Root& root, std::vector<std::string> command_line);

}  // namespace anyperf::recording
