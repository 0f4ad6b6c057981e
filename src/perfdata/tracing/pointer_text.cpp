// pointer_text.cpp: a function for each kind of address, which writes what pointer() in the kernel's lib/vsprintf.c
// does.
#include "perfdata/tracing/pointer_text.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <iterator>

namespace anyperf::perfdata {

namespace {

std::uint8_t byte(Bytes bytes, std::size_t at) {
    return std::to_integer<std::uint8_t>(bytes[at]);
}

/// "%pI4" has no leading zeros, "%pi4" has them.
void append_ipv4(bool padded, Bytes bytes, std::string& text) {
    if (bytes.size() != 4) {
        text += "INVALIDIPv4";
        return;
    }
    for (std::size_t i = 0; i < 4; ++i)
        fmt::format_to(std::back_inserter(text), "{}{:0{}}", i == 0 ? "" : ".", byte(bytes, i), padded ? 3 : 1);
}

/// Eight groups of four digits, or with 'c' the shortest form (RFC 5952), which inet_ntop() writes.
void append_ipv6(bool colons, bool compressed, Bytes bytes, std::string& text) {
    if (bytes.size() != 16) {
        text += "INVALIDIPv6";
        return;
    }
    if (compressed) {
        char buffer[INET6_ADDRSTRLEN] = {};
        text += inet_ntop(AF_INET6, bytes.data(), buffer, sizeof buffer) ? buffer : "";
        return;
    }
    for (std::size_t i = 0; i < 16; ++i)
        fmt::format_to(std::back_inserter(text), "{}{:02x}", colons && i != 0 && i % 2 == 0 ? ":" : "", byte(bytes, i));
}

/// struct sockaddr_in or sockaddr_in6, with 'p' its port.
void append_socket_address(bool padded, std::string_view options, Bytes bytes, std::string& text) {
    const bool port = options.contains('p'), compressed = options.contains('c');
    const std::uint16_t family = bytes.size() < 2 ? 0 : load<std::uint16_t>(bytes.data());
    const auto append_port = [&] {
        fmt::format_to(std::back_inserter(text), ":{}", byte(bytes, 2) << 8 | byte(bytes, 3));
    };
    constexpr std::size_t kBytes4 = 16, kBytes6 = 28;
    if (family == AF_INET) {
        append_ipv4(padded, bytes.size() < kBytes4 ? Bytes{} : bytes.subspan(4, 4), text);
        if (port && bytes.size() >= kBytes4) append_port();
        return;
    }
    if (family != AF_INET6) return;
    if (bytes.size() < kBytes6) return append_ipv6(true, compressed, {}, text);
    if (port) text += '[';
    append_ipv6(!padded, compressed, bytes.subspan(8, 16), text);
    if (!port) return;
    text += ']';
    append_port();
}

/// 'b' and 'B' have the bytes in their order, 'l' and 'L' the first three parts reversed; capitals are upper case.
void append_uuid(char variant, Bytes bytes, std::string& text) {
    constexpr std::array<std::uint8_t, 16> kBig{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    constexpr std::array<std::uint8_t, 16> kLittle{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    if (bytes.size() != 16) {
        text += "INVALIDUUID";
        return;
    }
    const bool upper = variant == 'B' || variant == 'L';
    const auto& order = variant == 'l' || variant == 'L' ? kLittle : kBig;
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const std::uint8_t each = byte(bytes, order[i]);
        upper ? fmt::format_to(std::back_inserter(text), "{:02X}", each)
              : fmt::format_to(std::back_inserter(text), "{:02x}", each);
    }
}

void append_mac(std::string_view extension, Bytes bytes, std::string& text) {
    if (bytes.size() != 6) {
        text += "INVALIDMAC";
        return;
    }
    const std::string_view separator = extension == "MF" ? "-" : extension == "m" ? "" : ":";
    for (std::size_t i = 0; i < 6; ++i)
        fmt::format_to(std::back_inserter(text), "{}{:02x}", i == 0 ? "" : separator, byte(bytes, i));
}

}  // namespace

bool is_address_format(std::string_view extension) {
    if (extension.empty()) return false;
    if (extension[0] == 'U' || extension[0] == 'M' || extension[0] == 'm') return true;
    return extension.size() > 1 && (extension[0] == 'I' || extension[0] == 'i') &&
           std::string_view{"46S"}.contains(extension[1]);
}

void append_address(std::string_view extension, Bytes bytes, std::string& text) {
    const bool padded = extension[0] == 'i';
    if (extension[0] == 'U') return append_uuid(extension.size() > 1 ? extension[1] : 'b', bytes, text);
    if (extension[0] == 'M' || extension[0] == 'm') return append_mac(extension, bytes, text);
    if (extension[1] == '4') return append_ipv4(padded, bytes, text);
    if (extension[1] == '6') return append_ipv6(!padded, extension.contains('c'), bytes, text);
    append_socket_address(padded, extension.substr(2), bytes, text);
}

}  // namespace anyperf::perfdata
