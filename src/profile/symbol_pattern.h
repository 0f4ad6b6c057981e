// symbol_pattern.h: a regular expression that names of functions are compared with, in the dialect of perf's options
// (regex(7), extended).
#pragma once

#include <memory>
#include <string>

#include "anyperf/error.h"

namespace anyperf::profile {

/// perf's default of --parent.
inline constexpr const char* kDefaultParents = "^sys_|^do_page_fault";

class SymbolPattern {
  public:
    /// Fails if it is not a regular expression.
    static Result<SymbolPattern> compile(const std::string& expression);

    /// Whether a part of the name matches.
    bool matches(const std::string& name) const;

  private:
    struct Compiled;
    explicit SymbolPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace anyperf::profile
