// catalog_names.h: `anyperf list --describe DIR [PATTERN…]`: the event names of every CPU, from the catalog, with the
// vendors' descriptions. `list --all` has no descriptions: it adds other CPUs' events to this machine's list.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

struct CatalogOptions {
    std::vector<std::string> patterns;  ///< as for EventNames::match(); none: lists the PMUs, ignores `describe`
    bool json = false;
    std::string root = "/";  ///< the machine that decides which PMUs are active
    std::string describe;    ///< directory with vendors' JSON event files; empty: no descriptions
};

/// The text to print. Error: nothing matches (exit_status 1), or `describe` cannot be read.
Result<std::string> catalog_names(const CatalogOptions& options);

}  // namespace anyperf::cli
