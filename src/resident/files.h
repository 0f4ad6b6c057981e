// files.h: files that describe the virtual machine, in the place of the host's.
#pragma once

#include "engine/syscalls/table.h"

namespace anyperf::resident {

/// Leads a call whose argument `kIndex` is a path to the virtual machine's file, where it names one. False: it does
/// not.
template <unsigned kIndex>
bool on_path(engine::Call& call, long& answer);

extern template bool on_path<0>(engine::Call&, long&);
extern template bool on_path<1>(engine::Call&, long&);

}  // namespace anyperf::resident
