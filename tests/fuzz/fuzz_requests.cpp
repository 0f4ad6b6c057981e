// fuzz_requests.cpp: any datagrams from a program that has the broker's socket and the run's memory. The broker serves,
// refuses or drops them; it does not crash or hang, and it ends after the command has ended.
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "broker/server.h"

namespace {

using namespace anyperf;
using broker::OwnedFd;
using run::Request;
using run::RequestHead;
using run::RequestKind;

constexpr int kRequests = 24;  // more than a bug is likely to need, fewer than the socket buffers
constexpr std::uint32_t kPages = 3;

/// The fuzzer's input as numbers; zeros after its end.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    bool more() const { return left_ > 0; }
    void take(void* to, std::size_t bytes) {
        const std::size_t got = left_ < bytes ? left_ : bytes;
        std::memset(to, 0, bytes);
        std::memcpy(to, data_, got);
        data_ += got;
        left_ -= got;
    }
    template <class T>
    T take() {
        T value{};
        take(&value, sizeof value);
        return value;
    }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

/// Appends an attr that can often be opened.
void put_attr(Request& request, Input& input) {
    std::array<std::uint64_t, 17> words{};
    const std::uint8_t shape = input.take<std::uint8_t>();
    words[0] = (shape & 1) | std::uint64_t{sizeof words} << 32;  // type hardware or software
    words[1] = shape >> 1 & 7;                                   // config
    if ((shape & 16) != 0) words[2] = input.take<std::uint16_t>();
    if ((shape & 32) != 0) words[3] = input.take<std::uint32_t>() & 0xffffff;
    words[5] = 0x60 | ((shape & 64) != 0 ? input.take<std::uint64_t>() : 0);  // exclude_kernel, exclude_hv
    if ((shape & 128) != 0) input.take(words.data(), sizeof words);
    std::memcpy(request.payload, words.data(), sizeof words);
    request.head.payload_bytes = sizeof words;
}

void fill(Request& request, Input& input) {
    RequestHead& head = request.head;
    const std::uint8_t how = input.take<std::uint8_t>();
    if (how == 0xff) return input.take(&request, sizeof(RequestHead) + 64);  // arbitrary bytes
    head.kind = static_cast<RequestKind>(input.take<std::uint8_t>() % (static_cast<unsigned>(RequestKind::count) + 1));
    head.page = input.take<std::uint8_t>() % kPages;
    head.tid = ::getpid();
    head.cpu = how & 1;
    head.event = input.take<std::uint8_t>() % 16;
    head.group = (how & 2) != 0 ? 5 : -1;
    for (std::uint64_t& argument : head.argument) argument = input.take<std::uint8_t>();
    if ((how & 4) != 0) head.argument[0] = input.take<std::uint64_t>();
    if ((how & 8) != 0) head.argument[1] = input.take<std::uint64_t>();
    if (head.kind == RequestKind::open) {
        if ((how & 16) == 0) head.argument[0] = 0, head.argument[1] = ~0u, head.argument[3] = 0;
        return put_attr(request, input);
    }
    head.payload_bytes = input.take<std::uint8_t>();
    input.take(request.payload, head.payload_bytes);
}

void send(int to, const Request& request, bool with_descriptor) {
    iovec part{const_cast<Request*>(&request), sizeof(RequestHead) + request.head.payload_bytes % 4096};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    const OwnedFd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (with_descriptor) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = nothing.get();
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ::sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// A program that ends at once; below 0 if there is none. A fork would copy the page tables of the sanitizer's shadow
/// memory, which took half of the time.
pid_t start_command() {
    std::string name = "/bin/true";
    std::array<char*, 2> arguments{name.data(), nullptr};
    pid_t command = -1;
    return ::posix_spawn(&command, name.c_str(), nullptr, nullptr, arguments.data(), nullptr) == 0 ? command : -1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ::signal(SIGTRAP, SIG_IGN);  // the broker sends it to threads to request a safepoint
    auto memory = broker::RunMemory::make();
    if (!memory) return 0;
    for (std::uint32_t i = 0; i < kPages; ++i) {
        run::ThreadPage& page = memory->thread_page(i);
        page.state = run::RecordState::live;
        page.pid = ::getpid();
        page.tid = ::getpid();
    }
    memory->use().thread_pages = kPages;
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return 0;
    // The broker drops a datagram without its sender's credentials.
    const int on = 1;
    if (::setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) std::abort();
    {
        const OwnedFd program{pair[1]};
        Input input{data, size};
        for (int i = 0; i < kRequests && input.more(); ++i) {
            Request request{};
            fill(request, input);
            send(program.get(), request, request.head.kind == RequestKind::open && (request.head.argument[5] & 1) == 0);
        }
    }
    const pid_t command = start_command();
    if (command < 0) return 0;
    broker::Server server{*memory, OwnedFd{pair[0]}, {.counters = size % 3 == 0 ? 2u : 0u}};
    server.serve_until_exit(command);
    return 0;
}
