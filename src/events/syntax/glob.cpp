#include "events/syntax/glob.h"

namespace anyperf::events {

namespace {

/// One element of a pattern: its length in the pattern, and whether it matches `c`.
struct Step {
    std::size_t length = 1;
    bool takes = false;
};

/// "[a-z]", "[!abc]" (glob(7)). Without a closing bracket the opening one is an ordinary character.
Step bracket(std::string_view pattern, char c) {
    const bool inverted = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
    const std::size_t first = inverted ? 2 : 1;
    const std::size_t end = pattern.find(']', first + 1);  // a ']' in the first place is an ordinary character
    if (end == std::string_view::npos) return {1, c == '['};
    bool inside = false;
    for (std::size_t i = first; i < end; ++i) {
        const bool range = i + 2 < end && pattern[i + 1] == '-';
        inside = inside || (range ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
        if (range) i += 2;
    }
    return {end + 1, inside != inverted};
}

Step step(std::string_view pattern, char c) {
    if (pattern.front() == '?') return {1, true};
    if (pattern.front() == '[') return bracket(pattern, c);
    return {1, pattern.front() == c};
}

}  // namespace

bool is_glob(std::string_view text) {
    return text.find_first_of("*?[") != std::string_view::npos;
}

// On a mismatch the last star takes one more character. Earlier stars need no retry: whatever one of them could take in
// addition, the last star can take instead. So time is bounded by the product of the lengths, without recursion.
bool glob_matches(std::string_view pattern, std::string_view name) {
    std::string_view after_star;  // where to resume if the characters after the last star do not match
    std::string_view retry;
    bool star = false;
    while (!name.empty()) {
        if (!pattern.empty() && pattern.front() == '*') {
            pattern.remove_prefix(1);
            after_star = pattern;
            retry = name;
            star = true;
            continue;
        }
        const Step next = pattern.empty() ? Step{} : step(pattern, name.front());
        if (next.takes) {
            pattern.remove_prefix(next.length);
            name.remove_prefix(1);
        } else if (star) {
            retry.remove_prefix(1);
            name = retry;
            pattern = after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace anyperf::events
