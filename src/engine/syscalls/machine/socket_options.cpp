// socket_options.cpp: getsockopt(2) in a deterministic run. What the kernel measures of a connection, such as round
// trips and rates, and what it derives from them, has fixed values; the socket's cookie is a number of the run.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "engine/syscalls/handlers.h"
#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

// Of asm-generic/socket.h and linux/tcp.h.
constexpr std::uint64_t kIncomingCpu = 49;
constexpr std::uint64_t kIncomingNapi = 56;
constexpr std::uint64_t kCookie = 57;
constexpr std::uint64_t kTcpTimestamp = 24;
constexpr std::uint64_t kCongestionInfo = 26;

/// The longest value that is changed: struct tcp_info has 248 bytes in Linux 6.18.
constexpr std::size_t kMostBytes = 512;

/// Bytes of struct tcp_info that have one value in each 32-bit word.
struct Fixed {
    std::uint16_t from, until;
    std::uint32_t value;
};
constexpr std::uint16_t kEnd = kMostBytes;
constexpr std::array kTcpInfo{
    Fixed{8, 12, 204'000},      // rto, in µs
    Fixed{12, 16, 40'000},      // ato
    Fixed{24, 60, 0},           // segments on their way; times since the last ones
    Fixed{64, 68, 65'535},      // rcv_ssthresh
    Fixed{68, 72, 100},         // rtt
    Fixed{72, 76, 50},          // rttvar
    Fixed{76, 80, 0x7fffffff},  // snd_ssthresh
    Fixed{80, 84, 10},          // snd_cwnd
    Fixed{88, 92, 3},           // reordering
    Fixed{92, 96, 0},           // rcv_rtt
    Fixed{96, 100, 65'535},     // rcv_space
    Fixed{100, 112, 0},         // total_retrans, pacing_rate
    Fixed{136, 148, 0},         // segments, notsent_bytes
    Fixed{148, 152, 100},       // min_rtt
    Fixed{152, 200, 0},         // data segments, rates, times, delivered
    Fixed{208, kEnd, 0},        // all after bytes_sent
};

using Value = std::array<std::uint8_t, kMostBytes>;

void put_word(Value& value, std::size_t at, std::uint32_t word) {
    __builtin_memcpy(value.data() + at, &word, sizeof word);
}

void fix_tcp_info(Value& value) {
    for (const Fixed& row : kTcpInfo)
        for (std::size_t at = row.from; at < row.until; at += 4) put_word(value, at, row.value);
}

/// The number of the socket in the run, from 1 on.
std::uint64_t number_of(const Call& call) {
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, call.argument[0], address_of(&about)))) return 0;
    return shown_inode(call.engine, about.st_dev, about.st_ino, about.st_mode) - run::kFirstShownInode + 1;
}

/// Changes the value of the option. False: it does not depend on chance.
bool show_option(const Call& call, Value& value) {
    const std::uint64_t level = static_cast<std::uint32_t>(call.argument[1]);
    const std::uint64_t option = static_cast<std::uint32_t>(call.argument[2]);
    if (level == SOL_SOCKET && (option == kIncomingCpu || option == kIncomingNapi)) {
        put_word(value, 0, 0);
    } else if (level == SOL_SOCKET && option == kCookie) {
        const std::uint64_t number = number_of(call);
        __builtin_memcpy(value.data(), &number, sizeof number);
    } else if (level == IPPROTO_TCP && option == TCP_INFO) {
        fix_tcp_info(value);
    } else if (level == IPPROTO_TCP && option == kTcpTimestamp) {
        put_word(value, 0, static_cast<std::uint32_t>(monotonic_ns(look_at_clock(call.thread)) / 1'000'000));
    } else if (level == IPPROTO_TCP && option == kCongestionInfo) {
        value.fill(0);
    } else {
        return false;
    }
    return true;
}

}  // namespace

namespace handlers {

long getsockopt(Call& call) {
    const long answer = call.pass_to_kernel();
    Value value{};
    std::uint32_t bytes = 0;
    if (answer != 0 || !has_virtual_clock(call.engine) || !x86_64::guarded_read(call.argument[4], bytes)) return answer;
    const std::uint64_t at = call.argument[3];
    const std::size_t length = std::min<std::size_t>(bytes, value.size());
    if (x86_64::guarded_copy(value.data(), at_address<const void>(at), length) && show_option(call, value))
        x86_64::guarded_copy(at_address<void>(at), value.data(), length);
    return answer;
}

}  // namespace handlers

}  // namespace anyperf::engine
