#include "events/vendor/whole_match.h"

#include <regex.h>

namespace anyperf::vendor {

bool matches_whole(const char* pattern, const std::string& text) {
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED) != 0) return false;
    regmatch_t place;
    const bool matches = regexec(&compiled, text.c_str(), 1, &place, 0) == 0;
    regfree(&compiled);
    return matches && place.rm_so == 0 && static_cast<std::size_t>(place.rm_eo) == text.size();
}

}  // namespace anyperf::vendor
