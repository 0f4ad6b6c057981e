// layout_debian.cpp: layout.h compiled with Debian's header.
#include <perfmon/pfmlib_perf_event.h>

#include "clients/pfm/layout.h"

std::map<std::string, long> layout_of_debian();

std::map<std::string, long> layout_of_debian() {
    return layout_of_this_header();
}
