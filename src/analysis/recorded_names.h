// recorded_names.h: hands the names that a recording has of its code to those who look names up.
#pragma once

#include "perfdata/facts.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

/// Gives the dsos the names that the recording has itself: those of simpleperf have some. May be called again when the
/// facts have more. Dsos whose names were loaded already keep theirs.
void use_recorded_names(const perfdata::Facts& facts, symbols::Dsos& dsos);

/// Whether registers of samples are those of x86, as far as the recording says: the unwinder knows no others.
bool has_x86_registers(const perfdata::Facts& facts);

}  // namespace anyperf::analysis
