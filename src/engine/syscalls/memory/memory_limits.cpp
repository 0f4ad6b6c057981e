#include "engine/syscalls/memory_limits.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/application_maps.h"
#include "engine/threads/run_records.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};          // RLIM_INFINITY
constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;  // [vsyscall] is above it

using run::KeptLimit;

run::ResourceLimit limit_of(const Thread& thread, KeptLimit which) {
    const run::ProcessRecord* const record = record_of(thread);
    return record != nullptr ? record->limits.get(which) : run::ResourceLimit{kNone, kNone};
}

/// A file of /proc/self that consists of numbers. All are 0 without /proc.
class Numbers {
  public:
    explicit Numbers(const char* path) {
        const long fd = kernel_call(__NR_open, address_of(path), O_RDONLY | O_CLOEXEC);
        if (is_error(fd)) return;
        const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(text_.data()), text_.size());
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
        if (got > 0) rest_ = {text_.data(), static_cast<std::size_t>(got)};
    }
    /// Skips everything up to the last `mark`.
    void skip_past(char mark) { rest_.remove_prefix(std::min(rest_.rfind(mark) + 1, rest_.size())); }
    /// The word of this number, from 0 on, among those that are left.
    std::uint64_t at(unsigned number) const {
        std::string_view rest = rest_;
        const auto skip_blanks = [&rest] { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); };
        skip_blanks();
        for (; number > 0; --number) {
            rest.remove_prefix(std::min(rest.find(' '), rest.size()));
            skip_blanks();
        }
        std::uint64_t value = 0;
        for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1))
            value = value * 10 + static_cast<std::uint64_t>(rest[0] - '0');
        return value;
    }

  private:
    std::array<char, 1024> text_{};
    std::string_view rest_;
};

/// A part of the address space of which bytes are counted.
struct Count {
    enum class What : std::uint8_t { mapped, privately, data };
    What what = What::mapped;
    const ExecutableMap* executable = nullptr;  ///< needed to count data
    std::uint64_t start = 0;
    std::uint64_t end = kUserEnd;
    std::uint64_t bytes = 0;

    std::uint64_t overlap(std::uint64_t from, std::uint64_t until) const {
        const std::uint64_t low = std::max(start, from);
        const std::uint64_t high = std::min(end, until);
        return high > low ? high - low : 0;
    }
};

/// Adds the part of a mapping that is data as in the kernel's is_data_mapping(). The engine write-protects code that it
/// has translated, so for code its own map says what can be written.
void add_data(Count& count, const ApplicationMapping& mapping) {
    if ((mapping.protection & PROT_WRITE) != 0) {
        count.bytes += count.overlap(mapping.start, mapping.end);
        return;
    }
    if ((mapping.protection & PROT_EXEC) == 0) return;
    for (const ExecutableRange& range : *count.executable)
        if (range.writable)
            count.bytes += count.overlap(std::max(range.start, mapping.start), std::min(range.end, mapping.end));
}

std::uint64_t counted(Count count) {
    for_each_mapping(
        [](void* to, const ApplicationMapping& mapping) {
            auto& into = *static_cast<Count*>(to);
            const bool is_private = mapping.flags == MAP_PRIVATE && !mapping.is_stack;
            if (into.what == Count::What::data && is_private)
                add_data(into, mapping);
            else if (into.what == Count::What::mapped || (into.what == Count::What::privately && is_private))
                into.bytes += into.overlap(mapping.start, mapping.end);
        },
        &count);
    return count.bytes;
}

/// Bytes of address space that the program has. The kernel's sum has the engine's, too.
std::uint64_t program_bytes() {
    const std::uint64_t all = Numbers{"/proc/self/statm"}.at(0) * kPageBytes;
    const std::uint64_t ours = own_pages.bytes();
    return all > ours ? all - ours : 0;
}

/// Bytes of data, the engine's and all stacks included: no less than the program's.
std::uint64_t most_data_bytes() {
    constexpr unsigned kData = 5;  // proc(5), statm: data_vm + stack_vm
    return Numbers{"/proc/self/statm"}.at(kData) * kPageBytes;
}

bool fits(std::uint64_t used, std::uint64_t more, std::uint64_t most) {
    return more <= most && used <= most - more;
}

}  // namespace

bool fits_data_limit(const Thread& thread, std::uint64_t more) {
    const run::ResourceLimit limit = limit_of(thread, KeptLimit::data);
    // A soft limit of 0 counts as the hard one, for the sake of Valgrind (may_expand_vm()).
    const std::uint64_t most = limit.soft != 0 ? limit.soft : limit.hard;
    if (most == kNone || fits(most_data_bytes(), more, most)) return true;
    return fits(data_bytes(*thread.engine, 0, kUserEnd), more, most);
}

bool has_memory_limit(const Thread& thread) {
    return limit_of(thread, KeptLimit::address_space).soft != kNone || limit_of(thread, KeptLimit::data).soft != kNone;
}

bool fits_memory_limits(const Thread& thread, std::uint64_t bytes, bool is_data) {
    const std::uint64_t most = limit_of(thread, KeptLimit::address_space).soft;
    if (most != kNone && !fits(program_bytes(), bytes, most)) return false;
    return !is_data || fits_data_limit(thread, bytes);
}

bool fits_break(const Thread& thread, std::uint64_t end) {
    const std::uint64_t most = limit_of(thread, KeptLimit::data).soft;
    if (most == kNone) return true;
    // proc(5), stat: fields 45 to 47, of which the third, the state, is the first after the name.
    Numbers stat{"/proc/self/stat"};
    stat.skip_past(')');
    constexpr unsigned kState = 3;
    const std::uint64_t data = stat.at(46 - kState) - stat.at(45 - kState);
    const std::uint64_t start = stat.at(47 - kState);
    return end <= start || fits(data, end - start, most);
}

bool exceeds_memory_limits(const Thread& thread) {
    const std::uint64_t most = limit_of(thread, KeptLimit::address_space).soft;
    return (most != kNone && program_bytes() > most) || !fits_data_limit(thread, 0);
}

std::uint64_t mapped_bytes(std::uint64_t start, std::uint64_t bytes) {
    return counted({.start = start, .end = start + bytes});
}

std::uint64_t private_bytes(std::uint64_t start, std::uint64_t bytes) {
    return counted({.what = Count::What::privately, .start = start, .end = start + bytes});
}

std::uint64_t data_bytes(Engine& engine, std::uint64_t start, std::uint64_t bytes) {
    const LockGuard held{engine.cache.lock};
    return counted(
        {.what = Count::What::data, .executable = &engine.cache.executable, .start = start, .end = start + bytes});
}

}  // namespace anyperf::engine
