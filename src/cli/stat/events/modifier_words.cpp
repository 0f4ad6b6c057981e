// modifier_words.cpp: a refusal names the fields of the attr that the kernel does not accept, since it is made for
// every verb and for the library. Whoever typed `cycles:u` may not know exclude_kernel, so stat puts the letter there.
#include "cli/stat/events/modifier_words.h"

#include <array>
#include <string_view>

namespace anyperf::cli::stat {

namespace {

/// What a cause calls a part of the attr, and what the user typed for it.
struct Words {
    std::string_view field;  ///< in the words of host/causes/parts.h
    std::string_view modifier;
};

// The modifier u sets exclude_kernel and exclude_hv, k sets exclude_user and exclude_hv. The pairs come first, so that
// no field of a pair is replaced alone.
constexpr std::array kWords{
    Words{"attr exclude_kernel together with attr exclude_hv", "the modifier u"},
    Words{"attr exclude_user together with attr exclude_hv", "the modifier k"},
    Words{"attr exclude_kernel", "the modifier u"},
    Words{"attr exclude_user", "the modifier k"},
    Words{"attr precise_ip", "the modifier p"},
    Words{"attr.pinned", "the modifier D"},
    Words{"attr.exclusive", "the modifier e"},
};

}  // namespace

Error in_words_of_modifiers(Error refusal) {
    for (const Words& row : kWords)
        if (const auto at = refusal.cause.find(row.field); at != std::string::npos)
            refusal.cause.replace(at, row.field.size(), row.modifier);
    return refusal;
}

}  // namespace anyperf::cli::stat
