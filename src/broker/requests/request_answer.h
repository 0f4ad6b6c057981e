// request_answer.h: what a handler of requests returns. It says what the answer is; transport/mailbox.h sends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "subsystem/host.h"

namespace anyperf::broker {

/// The bytes of an answer. It takes over what the subsystem has returned, so neither a small value nor a large one is
/// copied or allocated again.
class AnswerPayload {
  public:
    AnswerPayload() = default;
    explicit AnswerPayload(std::uint32_t number) : content_(number) {}
    explicit AnswerPayload(std::vector<std::uint64_t> words) : content_(std::move(words)) {}
    explicit AnswerPayload(std::vector<std::byte> bytes) : content_(std::move(bytes)) {}

    /// Valid as long as this object.
    std::span<const std::byte> bytes() const;

  private:
    std::variant<std::monostate, std::uint32_t, std::vector<std::uint64_t>, std::vector<std::byte>> content_;
};

inline std::span<const std::byte> AnswerPayload::bytes() const {
    if (const auto* const words = std::get_if<std::vector<std::uint64_t>>(&content_))
        return std::as_bytes(std::span{*words});
    if (const auto* const bytes = std::get_if<std::vector<std::byte>>(&content_)) return *bytes;
    if (const auto* const number = std::get_if<std::uint32_t>(&content_)) return std::as_bytes(std::span{number, 1});
    return {};
}

struct RequestAnswer {
    std::int64_t value = 0;  ///< the result, or a negated errno
    AnswerPayload payload{};
    subsystem::EventIndex event = 0;  ///< open: the new event
    bool is_sent = true;              ///< false: the thread does not wait for an answer
};

inline RequestAnswer refusal(int error) {
    return {.value = -error};
}

}  // namespace anyperf::broker
