// descriptions.h: what a modifier does, in a line. Masks and events have none: the vendors' texts are not copied.
#pragma once

#include "events/catalog/format.h"

namespace anyperf::pfm {

/// Never nullptr.
const char* modifier_description(catalog::Modset set, unsigned index);

}  // namespace anyperf::pfm
