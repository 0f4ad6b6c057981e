#include "events/sources/vendor_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "events/syntax/config_builder.h"
#include "events/syntax/text.h"
#include "host/hardware/pmu_details.h"
#include "try.h"

namespace anyperf::events {

namespace {

constexpr std::array<std::string_view, kConfigWords> kWords{"config", "config1", "config2", "config3", "config4"};

Error no_code(std::string cause) {
    return {"no code for the event", std::move(cause), ""};
}

/// The field of that name: "umask=config:8-15".
Result<host::Format> field_called(std::string_view name, std::string_view fields) {
    for (const auto piece : std::views::split(fields, ' ')) {
        const std::string_view field{piece.begin(), piece.end()};
        const std::size_t equals = field.find('=');
        if (field.substr(0, equals) == name) return host::parse_format(name, field.substr(equals + 1));
    }
    return std::unexpected(no_code(fmt::format("'{}' is not one of its fields", name)));
}

Result<void> apply(std::string_view name, std::uint64_t value, std::string_view fields, abi::Attr& attr) {
    const auto word = std::ranges::find(kWords, name);
    if (word != kWords.end()) {
        attr.*kConfigMembers[static_cast<std::size_t>(word - kWords.begin())] |= value;
        return {};
    }
    const host::Format field = TRY(field_called(name, fields));
    if (field.width() < 64 && value >> field.width() != 0)
        return std::unexpected(
            no_code(fmt::format("{:#x} does not fit into the {} bits of '{}'", value, field.width(), name)));
    attr.*kConfigMembers[field.word] |= field.spread(value);
    return {};
}

}  // namespace

Result<void> apply_known_fields(std::string_view terms, std::string_view fields, abi::Attr& attr) {
    for (const auto piece : std::views::split(terms, ',')) {
        const std::string_view term{piece.begin(), piece.end()};
        const std::size_t equals = std::min(term.find('='), term.size());
        const auto value = equals < term.size() ? number(term.substr(equals + 1)) : std::uint64_t{1};
        if (!value) return std::unexpected(no_code(fmt::format("'{}' has no number", term)));
        TRY(apply(term.substr(0, equals), *value, fields, attr));
    }
    return {};
}

}  // namespace anyperf::events
