// mailbox_test.cpp: what a thread finds in its mailbox.
#include "broker/transport/mailbox.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <memory>
#include <vector>

namespace anyperf::broker {
namespace {

TEST(Mailbox, AnswerHasTheSequenceNumberOfItsRequest) {
    const auto mailbox = std::make_unique<run::Mailbox>();
    const int cpu = write_answer(*mailbox, {.sequence = 5}, {.value = -EBADF, .event = 3});
    EXPECT_EQ(mailbox->answered, 5u);
    EXPECT_EQ(mailbox->answer, -EBADF);
    EXPECT_EQ(mailbox->event, 3u);
    EXPECT_EQ(mailbox->payload_bytes, 0u);
    EXPECT_EQ(mailbox->host_cpu, static_cast<std::uint32_t>(cpu + 1));
}

TEST(Mailbox, PayloadIsCopied) {
    const auto mailbox = std::make_unique<run::Mailbox>();
    write_answer(*mailbox, {}, {.payload = AnswerPayload{std::uint32_t{0x01020304}}});
    EXPECT_EQ(mailbox->payload_bytes, 4u);
    EXPECT_EQ(mailbox->payload[0], 4);

    write_answer(*mailbox, {}, {.payload = AnswerPayload{std::vector<std::uint64_t>{1, 2}}});
    EXPECT_EQ(mailbox->payload_bytes, 16u);
    EXPECT_EQ(mailbox->payload[8], 2);
}

TEST(Mailbox, PayloadThatIsTooLargeIsCut) {
    const auto mailbox = std::make_unique<run::Mailbox>();
    const std::vector<std::byte> large(2 * sizeof mailbox->payload, std::byte{9});
    write_answer(*mailbox, {}, {.payload = AnswerPayload{large}});
    EXPECT_EQ(mailbox->payload_bytes, sizeof mailbox->payload);
    EXPECT_EQ(mailbox->payload[sizeof mailbox->payload - 1], 9);
}

}  // namespace
}  // namespace anyperf::broker
