// catalog_names.h: `anyperf list --all [PATTERN…]`: names of every CPU, from the catalog.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

struct CatalogOptions {
    std::vector<std::string> patterns;  ///< as EventNames::match(); none: the PMUs
    bool json = false;
    std::string root = "/";
    std::string describe;  ///< directory with vendors' JSON event files; empty: no descriptions
};

/// The text to print. Error: nothing matches, or `describe` can't be read.
Result<std::string> catalog_names(const CatalogOptions& options);

}  // namespace anyperf::cli
