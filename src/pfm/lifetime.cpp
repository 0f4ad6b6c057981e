// lifetime.cpp: pfm_initialize(3), pfm_terminate(3), pfm_get_version(3), pfm_strerror(3). pfm_initialize() always
// succeeds: on an unknown CPU fewer PMUs are active, but those of the kernel (`perf`, `perf_raw`) still are. A second
// pfm_initialize() does nothing, also if the environment has changed since; a program that wants the new LIBPFM_…
// variables calls pfm_terminate() first.
#include <perfmon/pfmlib.h>

#include "events/catalog/encoding/refusal.h"
#include "pfm/library.h"

extern "C" {

pfm_err_t pfm_initialize(void) {
    anyperf::pfm::initialize();
    return PFM_SUCCESS;
}

void pfm_terminate(void) {
    anyperf::pfm::terminate();
}

int pfm_get_version(void) {
    return LIBPFM_VERSION;
}

const char* pfm_strerror(int code) {
    return anyperf::catalog::error_text(code);
}
}
