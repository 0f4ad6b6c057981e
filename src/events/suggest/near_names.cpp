#include "events/suggest/near_names.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "events/syntax/text.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMaxNames = 4;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestTyped = 96;  // limits the time; some vendor names are longer and get no suggestion

/// The optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of neighbours.
/// Returns `most` + 1 if the distance exceeds `most`. One message compares thousands of names, so only three rows of
/// the matrix are kept, on the stack.
std::size_t distance(std::string_view a, std::string_view b, std::size_t most) {
    if (b.size() > kLongestName) return most + 1;
    using Row = std::array<std::size_t, kLongestName + 1>;
    std::array<Row, 3> rows{};
    std::iota(rows[0].begin(), rows[0].begin() + static_cast<std::ptrdiff_t>(b.size()) + 1, std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        Row& now = rows[i % 3];
        const Row& last = rows[(i + 2) % 3];
        const Row& before = rows[(i + 1) % 3];
        std::size_t least = now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool equal = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (equal ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = std::min(now[j], before[j - 2] + 1);
            least = std::min(least, now[j]);
        }
        if (least > most) return most + 1;
    }
    return rows[a.size() % 3][b.size()];
}

std::size_t most_steps(std::string_view typed) {
    return std::max<std::size_t>(1, typed.size() / 3);
}

/// The rank of a name: its distance, if that is at most most_steps(); most_steps() + 1 for a name that only begins with
/// `typed`; most_steps() + 2 for a name that is not similar.
std::size_t steps(std::string_view typed, std::string_view name) {
    const std::size_t difference = typed.size() > name.size() ? typed.size() - name.size() : name.size() - typed.size();
    const std::size_t most = most_steps(typed);
    if (difference <= most) {
        const std::size_t far = distance(typed, name, most);
        if (far <= most) return far;
    }
    return typed.size() >= 3 && same_ignoring_case(name.substr(0, typed.size()), typed) ? most + 1 : most + 2;
}

using Found = std::vector<std::pair<std::size_t, std::string>>;

/// Adds a name, unless the list has it already, in any case.
void add(Found& found, std::size_t far, const std::string& name) {
    if (std::ranges::none_of(found, [&](const auto& other) { return same_ignoring_case(other.second, name); }))
        found.emplace_back(far, name);
}

}  // namespace

std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known) {
    if (typed.empty() || typed.size() > kLongestTyped) return {};
    const std::size_t most = most_steps(typed);
    Found found;
    for (const std::string& name : known)
        if (const std::size_t far = steps(typed, name); far <= most + 1) add(found, far, name);
    std::ranges::sort(found);
    if (!found.empty() && found.front().first <= most)
        std::erase_if(found, [&](const auto& row) { return row.first > most; });
    std::vector<std::string> names;
    for (auto& [far, name] : found)
        if (names.size() < kMaxNames) names.push_back(std::move(name));
    return names;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
    const std::vector<std::string> names = near_names(typed, known);
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += '\'' + names[i] + '\'';
    }
    return text.empty() ? text : "did you mean " + text + "?";
}

}  // namespace anyperf::events
