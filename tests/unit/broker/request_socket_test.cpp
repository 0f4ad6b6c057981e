// request_socket_test.cpp: what the broker gets from the socket on which programs send.
#include "broker/transport/request_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "broker/launch/launch.h"

namespace anyperf::broker {
namespace {

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
}

void send_with_descriptors(int to, std::size_t count) {
    const OwnedFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    char byte = 1;
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 64)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    for (std::size_t i = 0; i < count; ++i) {
        const int fd = nothing.get();
        std::memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
    }
    ASSERT_EQ(::sendmsg(to, &message, MSG_NOSIGNAL), 1);
}

class Socket : public testing::Test {
  protected:
    void SetUp() override {
        auto pair = make_request_socket();
        ASSERT_TRUE(pair.has_value());
        socket_.emplace(std::move(pair->first));
        program_ = std::move(pair->second);
    }

    std::optional<RequestSocket> socket_;
    OwnedFd program_;
    ReceivedRequest received_;
};

TEST_F(Socket, KernelNamesTheSender) {
    ASSERT_EQ(::send(program_.get(), "x", 1, 0), 1);
    ASSERT_TRUE(socket_->receive(received_));
    EXPECT_EQ(received_.sender, ::getpid());
}

TEST_F(Socket, EmptyDatagramIsNotTheEndOfFile) {
    ASSERT_EQ(::send(program_.get(), "", 0, 0), 0);
    ASSERT_TRUE(socket_->receive(received_));
    EXPECT_EQ(received_.bytes, 0u);
    EXPECT_FALSE(socket_->closed());
    EXPECT_FALSE(socket_->receive(received_));
    EXPECT_FALSE(socket_->closed());
    program_ = OwnedFd{};
    EXPECT_FALSE(socket_->receive(received_));
    EXPECT_TRUE(socket_->closed());
}

TEST_F(Socket, UnwantedDescriptorsAreClosed) {
    const auto before = open_descriptors();
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{8}, std::size_t{9}, std::size_t{64}}) {
        send_with_descriptors(program_.get(), count);
        ASSERT_TRUE(socket_->receive(received_));
        EXPECT_TRUE(received_.descriptor) << count;
        EXPECT_EQ(received_.sender, ::getpid()) << count;
        received_.descriptor = OwnedFd{};
        EXPECT_EQ(open_descriptors(), before) << count;
    }
}

}  // namespace
}  // namespace anyperf::broker
