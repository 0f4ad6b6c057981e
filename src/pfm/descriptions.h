// descriptions.h: the description of each modifier, in one line, for pfm_get_event_attr_info(3). Unit masks and events
// have none (their names are returned instead): the vendors' texts are not copied into anyperf.
#pragma once

#include "events/catalog/format.h"

namespace anyperf::pfm {

/// The text for modifier `index` of `set`; "" if there is no such modifier. Never nullptr; valid forever.
const char* modifier_description(catalog::Modset set, unsigned index);

}  // namespace anyperf::pfm
