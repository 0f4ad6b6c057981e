// layout_ours.cpp: layout.h with our header, which the build puts in front of Debian's for this file.
#include <perfmon/pfmlib_perf_event.h>

#include "clients/pfm/layout.h"

std::map<std::string, long> layout_of_ours();

std::map<std::string, long> layout_of_ours() {
    return layout_of_this_header();
}
