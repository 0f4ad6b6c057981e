// pointer_text.h: the kernel's extensions of printf's %p (Documentation/core-api/printk-formats.rst of Linux): network
// addresses, UUIDs and MAC addresses. The wording of what does not fit is that of perf's library.
#pragma once

#include <string>
#include <string_view>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// "I4", "i6", "I6c", "ISpc", "M", "MF", "m", "U", "Ub", …: whether `extension` is one of those.
bool is_address_format(std::string_view extension);

/// Appends the bytes of a field as `extension` says.
void append_address(std::string_view extension, Bytes bytes, std::string& text);

}  // namespace anyperf::perfdata
