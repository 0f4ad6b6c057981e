// probe.h: uprobes on functions of this program.
#pragma once

#include <cstdint>

#include "suite/event.h"

namespace conformance {

/// This program's file.
const char* own_path();

/// Where an address of this program, code or data, stands in that file.
std::uint64_t file_offset(const void* address);

/// A uprobe at a place of this program; config bit 0: at the function's return.
Attr uprobe_at(const void* address, bool at_return = false, std::uint64_t period = 0);

}  // namespace conformance
