// vendor_fields.h: the terms of an event of perf's lists become an attr without a machine that has the PMU: by what is
// known of the PMU's fields (data/vendor/formats.tsv).
#pragma once

#include <string>
#include <string_view>

#include "anyperf/attr.h"
#include "anyperf/error.h"

namespace anyperf::events {

/// Sets config, config1, … to the terms, "event=0x4,umask=0x3". `fields` says where they go: "event=config:0-7
/// umask=config:8-15". Error: a term has no field, or its value does not fit; `cause` says which.
Result<void> apply_known_fields(std::string_view terms, std::string_view fields, abi::Attr& attr);

}  // namespace anyperf::events
