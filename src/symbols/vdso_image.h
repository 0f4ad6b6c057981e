// vdso_image.h: the kernel's vDSO, which has no file.
#pragma once

#include <optional>

#include "symbols/elf_image.h"

namespace anyperf::symbols {

/// A copy of this process's vDSO; nullopt if it has none.
std::optional<ElfImage> vdso_image();

}  // namespace anyperf::symbols
