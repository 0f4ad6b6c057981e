// text_of.h: bytes as a text of its own.
#pragma once

#include <string>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

inline std::string text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace anyperf::perfdata
