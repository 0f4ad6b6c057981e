// constant.h: values that a tracepoint's format knows without a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "perfdata/tracing/expression.h"

namespace anyperf::perfdata {

/// The value of an operator's result. Division by 0 is 0.
std::uint64_t applied(std::string_view op, std::uint64_t left, std::uint64_t right);

/// The result of (type)value, as perf's library computes it: types that it does not know change nothing.
std::uint64_t converted(std::string_view type, std::uint64_t value);

/// Enumerators of the kernel that older kernels left in their formats; nothing for others.
std::optional<std::int64_t> value_of_enumerator(std::string_view name);

/// The key of an enumerator that nobody defines, as in perf's library.
inline constexpr std::int64_t kUnknownEnumerator = -1;

/// The value of an entry of __print_flags or __print_symbolic.
std::int64_t value_of_key(const Expression& key);

}  // namespace anyperf::perfdata
