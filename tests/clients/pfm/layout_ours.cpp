// layout_ours.cpp: layout.h compiled with anyperf's header, which the build puts before Debian's for this file.
#include <perfmon/pfmlib_perf_event.h>

#include "clients/pfm/layout.h"

std::map<std::string, long> layout_of_ours();

std::map<std::string, long> layout_of_ours() {
    return layout_of_this_header();
}
