// randomness.cpp: what the kernel gives programs at random, given by the seed in a deterministic run (random_stream.h):
// getrandom(2), reads of /dev/urandom and /dev/random, /proc/sys/kernel/random/uuid and boot_id.
//
// The kernel answers first, so errors, short counts and signals are its own; then the bytes that it has stored are
// replaced. A descriptor is recognised by the device that it is open on, so it does not matter by which path, process
// or message it came. What moves bytes of such a device past the engine is refused as on a file that does not support
// it, and programs go on with read(2): splice, sendfile and io_uring.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "engine/freestanding/memory_file.h"
#include "engine/syscalls/file_kinds.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/random_files.h"
#include "engine/syscalls/submission_queues.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

constexpr std::string_view kUuid = "/proc/sys/kernel/random/uuid";
constexpr std::string_view kBootId = "/proc/sys/kernel/random/boot_id";

/// Whether the descriptor of the argument is open on /dev/random or /dev/urandom.
bool is_random_device(const Call& call, unsigned argument) {
    return kind_of_descriptor(call.thread, call.argument[argument]) == DescriptorKind::random;
}

/// Replaces `bytes` bytes of the application from `to` on. Memory that the application has taken away meanwhile is left
/// out.
void replace(Engine& engine, std::uint64_t to, std::uint64_t bytes) {
    while (bytes != 0) {
        const std::uint64_t word = engine.random.next();
        const std::uint64_t part = std::min<std::uint64_t>(bytes, sizeof word);
        if (!x86_64::guarded_copy(at_address<void>(to), &word, part)) return;
        to += part;
        bytes -= part;
    }
}

/// The same for the first `bytes` bytes of an array of buffers.
void replace_in(Engine& engine, std::uint64_t vector, std::uint64_t count, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < count && bytes != 0; ++i) {
        iovec buffer{};
        if (!x86_64::guarded_copy(&buffer, at_address<const void>(vector + i * sizeof buffer), sizeof buffer)) return;
        const std::uint64_t part = std::min<std::uint64_t>(bytes, buffer.iov_len);
        replace(engine, address_of(buffer.iov_base), part);
        bytes -= part;
    }
}

bool replaces_randomness(const Call& call) {
    return call.engine.run != nullptr && call.engine.run->deterministic != 0;
}

/// Whether getrandom(2) knows the flags. If so a deterministic run asks with GRND_INSECURE in their place: shortly
/// after boot, until the kernel has collected randomness, the others wait or answer EAGAIN, so a program would count
/// otherwise there than on a machine that has been up for a while.
bool is_valid_getrandom(std::uint64_t flags) {
    constexpr std::uint64_t kExclusive = GRND_RANDOM | GRND_INSECURE;
    return (flags & ~(kExclusive | GRND_NONBLOCK)) == 0 && (flags & kExclusive) != kExclusive;
}

/// 128 bits as RFC 4122 writes them, version 4, and a newline.
std::array<char, 37> uuid_text(std::uint64_t high, std::uint64_t low) {
    high = (high & ~std::uint64_t{0xf000}) | 0x4000;
    low = (low & ~(std::uint64_t{3} << 62)) | std::uint64_t{2} << 62;
    std::array<char, 37> text{};
    std::size_t at = 0;
    for (unsigned digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text[at++] = '-';
        const std::uint64_t word = digit < 16 ? high : low;
        text[at++] = "0123456789abcdef"[word >> (60 - digit % 16 * 4) & 15];
    }
    text[at] = '\n';
    return text;
}

}  // namespace

bool is_random_file(const Engine& engine, std::string_view path) {
    return engine.run != nullptr && engine.run->deterministic != 0 && (path == kUuid || path == kBootId);
}

long open_random_file(Engine& engine, std::string_view path, std::uint64_t flags) {
    if ((flags & O_ACCMODE) != O_RDONLY) return -EACCES;
    if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
    RandomStream of_run;  // one for all processes: a machine boots once
    of_run.begin(~engine.run->seed);
    RandomStream& stream = path == kBootId ? of_run : engine.random;
    const std::uint64_t high = stream.next();
    const std::uint64_t low = stream.next();
    const auto text = uuid_text(high, low);
    return make_memory_file(path == kBootId ? "boot_id" : "uuid", {text.data(), text.size()}, flags);
}

namespace handlers {

long getrandom(Call& call) {
    if (!replaces_randomness(call)) return call.pass_to_kernel();
    const std::uint64_t flags = call.argument[2];
    if (is_valid_getrandom(flags)) call.argument[2] = GRND_INSECURE;
    long answer = call.pass_to_kernel();
    if (answer == -EINVAL && call.argument[2] != flags) {  // before Linux 5.6
        call.argument[2] = flags;
        answer = call.pass_to_kernel();
    }
    if (answer > 0) replace(call.engine, call.argument[0], static_cast<std::uint64_t>(answer));
    return answer;
}

long read(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer > 0 && replaces_randomness(call) && is_random_device(call, 0))
        replace(call.engine, call.argument[1], static_cast<std::uint64_t>(answer));
    return answer;
}

long readv(Call& call) {
    const long answer = call.pass_to_kernel();
    if (answer > 0 && replaces_randomness(call) && is_random_device(call, 0))
        replace_in(call.engine, call.argument[1], call.argument[2], static_cast<std::uint64_t>(answer));
    return answer;
}

long splice(Call& call) {
    return replaces_randomness(call) && is_random_device(call, 0) ? -EINVAL : call.pass_to_kernel();
}

long sendfile(Call& call) {
    return replaces_randomness(call) && is_random_device(call, 1) ? -EINVAL : call.pass_to_kernel();
}

long io_uring_setup(Call& call) {
    if (replaces_randomness(call)) return -ENOSYS;
    const std::uint64_t place = call.argument[1];
    const long ring = call.pass_to_kernel();
    if (!is_error(ring)) note_submission_queue(static_cast<std::int32_t>(ring), place);
    return ring;
}

}  // namespace handlers

}  // namespace anyperf::engine
