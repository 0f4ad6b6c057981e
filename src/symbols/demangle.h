// demangle.h: names as people read them.
#pragma once

#include <string>
#include <string_view>

namespace anyperf::symbols {

/// "ns::f" of "_ZN2ns1fEi": without parameters and return type, as perf prints names. Names of other languages, and
/// names that are not mangled, are returned as they are. A suffix from '@' on ("@plt", a version) is kept.
std::string demangle(std::string_view linkage_name);

}  // namespace anyperf::symbols
