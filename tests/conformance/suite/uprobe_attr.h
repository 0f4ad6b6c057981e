// uprobe_attr.h: attrs of uprobes on functions of this program.
#pragma once

#include <cstdint>

#include "suite/event.h"

namespace conformance {

/// The path of this program's file.
const char* own_path();

/// The offset in that file of an address of this program, code or data.
std::uint64_t file_offset(const void* address);

/// An attr of a uprobe at an address of this program, or of a uretprobe (config bit 0) on the function there.
Attr uprobe_at(const void* address, bool at_return = false, std::uint64_t period = 0);

}  // namespace conformance
