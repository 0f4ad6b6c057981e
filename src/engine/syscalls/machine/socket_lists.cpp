// socket_lists.cpp: the lines of the kernel's lists: tcp4_seq_show(), udp4_seq_show() and unix_seq_show() of Linux.
#include "engine/syscalls/machine/socket_lists.h"

#include <asm/unistd.h>
#include <fcntl.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/made_files.h"
#include "engine/syscalls/ports.h"
#include "engine/syscalls/socket_names.h"

namespace anyperf::engine {

namespace {

/// A socket of the run.
struct Listed {
    std::uint64_t inode;  ///< as programs see it
    std::string_view line;
};

/// The words of a line, up to kMost.
struct Words {
    static constexpr std::size_t kMost = 24;
    std::array<std::string_view, kMost> word;
    std::size_t count = 0;

    explicit Words(std::string_view line) {
        while (count < kMost) {
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            if (line.empty()) break;
            word[count++] = take(line, ' ');
        }
    }
};

/// The word of a line that is the inode number, counted from 0.
constexpr std::size_t kInternetInode = 9;  // sl local remote st queues timer retrnsmt uid timeout inode
constexpr std::size_t kLocalInode = 6;     // Num RefCount Protocol Flags Type St Inode

/// The last digits of a text, as a hexadecimal number. The kernel's lists have capital letters.
std::uint32_t hexadecimal(std::string_view digits) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::uint32_t value = 0;
    for (const char digit : digits) value = value << 4 | static_cast<std::uint32_t>(kDigits.find(digit) & 15);
    return value;
}

/// "0100007F:1F90". The kernel prints each 4 bytes of an address as a number of the machine's byte order.
TcpEnd end_of(std::string_view word) {
    const std::size_t colon = std::min(word.rfind(':'), word.size());
    return {hexadecimal(word.substr(0, colon)), hexadecimal(piece_of(word, colon + 1, word.size()))};
}

/// Puts "ADDRESS:PORT", where the port has four hexadecimal digits.
void put_address(const Engine& engine, std::string_view word, CopiedText& out) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const std::uint32_t port = shown_port(engine, static_cast<std::uint16_t>(end_of(word).port));
    out.text(word.substr(0, word.rfind(':') + 1));
    for (int shift = 12; shift >= 0; shift -= 4) out.text({&kDigits[port >> shift & 15], 1});
}

/// "   0: LOCAL REMOTE ST QUEUES 00:00000000 00000000  UID 0 INODE 1 ADDRESS" and for TCP five figures of its timers.
void put_internet(const Engine& engine, std::uint64_t number, const Words& words, std::uint64_t inode,
                  CopiedText& out) {
    constexpr std::size_t kOfUdp = 13;
    out.text(number < 10 ? "   " : number < 100 ? "  " : number < 1000 ? " " : "");
    out.put(number);
    out.text(": ");
    put_address(engine, words.word[1], out);
    out.text(" ");
    put_address(engine, words.word[2], out);
    out.text(" ").text(words.word[3]).text(" ").text(words.word[4]).text(" 00:00000000 00000000 ");
    out.text(words.word[7]).text(" 0 ");
    out.put(inode);
    out.text(" 1 0000000000000000").text(words.count > kOfUdp ? " 100 0 0 10 0\n" : " 0\n");
}

/// A name; "@" is the NUL of one without a file.
void put_name(const Engine& engine, std::string_view text, CopiedText& out) {
    ChosenName name{};
    out.text(" ");
    if (text.size() == 1 + sizeof name.digits && text[0] == '@') {
        text.copy(name.digits, sizeof name.digits, 1);
        if (name.is_chosen()) {
            show_name(engine, name);
            out.text("@");
            text = {name.digits, sizeof name.digits};
        }
    }
    out.text(text);
}

/// "0000000000000000: REFCOUNT PROTOCOL FLAGS TYPE ST INODE NAME"
void put_local(const Engine& engine, const Words& words, std::uint64_t inode, CopiedText& out) {
    out.text("0000000000000000:");
    for (std::size_t i = 1; i < kLocalInode; ++i) out.text(" ").text(words.word[i]);
    out.text(" ");
    out.put(inode);
    if (words.count > kLocalInode + 1) {
        // A name may have blanks.
        const std::string_view last = words.word[words.count - 1];
        const char* const begin = words.word[kLocalInode + 1].data();
        put_name(engine, {begin, static_cast<std::size_t>(last.data() + last.size() - begin)}, out);
    }
    out.text("\n");
}

/// The socket of a line, if the run has made it.
run::MadeFile own_socket(const Engine& engine, const Words& words, std::size_t inode_at) {
    run::MadeFiles& files = made_files(engine);
    std::uint64_t inode = 0;
    if (words.count <= inode_at) return {};
    if (std::string_view digits = words.word[inode_at]; !take_decimal(digits, inode) || inode == 0) return {};
    const run::MadeFile file = files.find(files.socket_device, inode, false);
    return file && file.number() != 0 ? file : run::MadeFile{};
}

/// Collects the sockets of the run. Returns how many there are.
std::size_t collect(const Engine& engine, std::string_view rest, std::size_t inode_at, Listed* listed,
                    std::size_t most) {
    std::size_t count = 0;
    while (!rest.empty() && count < most) {
        const std::string_view line = take(rest, '\n');
        if (const run::MadeFile file = own_socket(engine, Words{line}, inode_at))
            listed[count++] = {file.shown_inode(), line};
    }
    std::sort(listed, listed + count, [](const Listed& a, const Listed& b) { return a.inode < b.inode; });
    return count;
}

constexpr std::size_t kListBytes = std::size_t{4} << 20;

/// Reads a list into `room`, from its start. Returns 0 if it can't be read or is longer.
std::size_t read_list(const char* path, char* room) {
    const long fd = kernel_call(__NR_open, address_of(path), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return 0;
    std::size_t bytes = 0;
    long got = 0;
    do {
        got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(room + bytes), kListBytes - bytes);
        bytes += static_cast<std::size_t>(std::max(got, 0l));
    } while (got > 0 && bytes < kListBytes);
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return got == 0 ? bytes : 0;
}

/// Whether a socket of the run in this list is connected between these ends.
bool has_connection(const Engine& engine, std::string_view list, const TcpEnd& own, const TcpEnd& other) {
    constexpr std::string_view kEstablished = "01";
    take(list, '\n');  // the titles
    while (!list.empty()) {
        const Words words{take(list, '\n')};
        if (words.count > kInternetInode && words.word[3] == kEstablished && end_of(words.word[1]) == own &&
            end_of(words.word[2]) == other && own_socket(engine, words, kInternetInode))
            return true;
    }
    return false;
}

}  // namespace

void put_own_sockets(const Engine& engine, bool local, CopiedText& list) {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    std::string_view rest = list.original();
    list.text(take(rest, '\n')).text("\n");
    if (made_files(engine).socket_device == 0) return;
    auto* const listed = static_cast<Listed*>(reserve_pages(kMost * sizeof(Listed)));
    if (listed == nullptr) return;
    const std::size_t count = collect(engine, rest, local ? kLocalInode : kInternetInode, listed, kMost);
    for (std::size_t i = 0; i < count; ++i) {
        const Words words{listed[i].line};
        if (local)
            put_local(engine, words, listed[i].inode, list);
        else
            put_internet(engine, i, words, listed[i].inode, list);
    }
    release_pages(listed, kMost * sizeof(Listed));
}

// A server that takes both IPv4 and IPv6 has its end in the list of IPv6, its client in the other one.
bool has_made_connection(const Engine& engine, const TcpEnd& own, const TcpEnd& other) {
    if (made_files(engine).socket_device == 0) return false;
    auto* const room = static_cast<char*>(reserve_pages(kListBytes));
    if (room == nullptr) return false;
    const auto is_in = [&](const char* path) {
        return has_connection(engine, {room, read_list(path, room)}, own, other);
    };
    const bool found = is_in("/proc/self/net/tcp") || is_in("/proc/self/net/tcp6");
    release_pages(room, kListBytes);
    return found;
}

}  // namespace anyperf::engine
