// machine_facts.h: the facts about the machine and the command that perf.data keeps in its feature sections.
#pragma once

#include <string>
#include <vector>

#include "host/root.h"
#include "perfdata/facts.h"

namespace anyperf::recording {

/// The facts about the machine below `root`. `command_line` is that of the recorder. If a file cannot be read, its fact
/// stays unknown and the recording lacks that section; this is not an error. Host name, release and architecture are
/// those of this machine, by uname(2), whatever the root.
perfdata::Facts machine_facts(const host::Root& root, std::vector<std::string> command_line);

}  // namespace anyperf::recording
