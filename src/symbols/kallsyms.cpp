#include "symbols/kallsyms.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <vector>

#include "symbols/build_id_note.h"
#include "symbols/kallsyms_cache.h"

namespace anyperf::symbols {

namespace {

constexpr std::size_t kBuffer = 256 << 10;
constexpr std::string_view kTypes = "TtWwDdBb";  // perf's symbol_type__filter()
constexpr std::string_view kCodeTypes = "TtWw";  // and kallsyms2elf_type()

/// One line: "ffffffff81000000 T _text", and "\t[module]" after the name of a module's symbol. True if the address is
/// not hidden. The type is a letter as nm(1) prints it, upper case for global symbols. Symbols that begin with '$' are
/// mapping symbols of ARM, which name no code.
bool add_line(std::string_view line, SymbolTable& table) {
    std::uint64_t address = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    const auto used = static_cast<std::size_t>(rest - line.data());
    if (error != std::errc{} || line.size() < used + 4) return false;
    const char type = line[used + 1];
    std::string_view name = line.substr(used + 3);
    name = name.substr(0, name.find('\t'));
    if (kTypes.find(type) != std::string_view::npos && !name.starts_with('$') && address != 0)
        table.add(address, 0, name,
                  {.typed = true,
                   .weak = type == 'W' || type == 'w',
                   .global = type < 'a',
                   .data = kCodeTypes.find(type) == std::string_view::npos});
    return address != 0;
}

}  // namespace

// A read(2) may end within a line, whose beginning is then kept for the next one.
Result<SymbolTable> read_kallsyms(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(Error{"cannot read " + path, strerror(errno), {}});
    SymbolTable table;
    std::vector<char> buffer(kBuffer);
    std::size_t kept = 0;
    bool shown = false, any = false;
    for (ssize_t got = 0; (got = read(fd, buffer.data() + kept, buffer.size() - kept)) > 0;) {
        const std::string_view text{buffer.data(), kept + static_cast<std::size_t>(got)};
        std::size_t at = 0;
        for (std::size_t end = 0; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1)
            any = true, shown |= add_line(text.substr(at, end - at), table);
        kept = text.size() - at;
        if (kept == buffer.size()) break;  // a line of 256 KiB: not such a file
        std::memmove(buffer.data(), buffer.data() + at, kept);
    }
    close(fd);
    if (!any) return std::unexpected(Error{"cannot use " + path, "it has no lines", {}});
    if (!shown)
        return std::unexpected(Error{"cannot use " + path, "the kernel hides its addresses (kernel.kptr_restrict)",
                                     "sysctl kernel.kptr_restrict=0, or run as root"});
    table.finish();
    return table;
}

SymbolTable kallsyms_of(std::string_view text) {
    SymbolTable table;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        add_line(text.substr(at, end - at), table);
        at = end + 1;
    }
    table.finish();
    return table;
}

namespace {

/// The running kernel's symbols are kept for the next time.
Result<SymbolTable> read_with_cache(const std::string& path) {
    const std::string state = path == "/proc/kallsyms" ? kernel_state() : std::string{};
    const std::string cache = state.empty() ? std::string{} : kallsyms_cache_path();
    if (cache.empty()) return read_kallsyms(path);
    if (auto kept = read_kallsyms_cache(cache, state)) return std::move(*kept);
    auto found = read_kallsyms(path);
    if (found) write_kallsyms_cache(cache, state, *found);
    return found;
}

}  // namespace

const SymbolTable* KernelSymbols::table(const std::string& path) {
    if (!read_) {
        read_ = true;
        auto found = read_with_cache(path);
        if (found)
            table_ = std::move(*found);
        else
            why_ = found.error().what + ": " + found.error().cause;
    }
    return table_.empty() ? nullptr : &table_;
}

// /sys/kernel/notes has the ELF notes of the running kernel, the build id among them.
std::string kernel_build_id(const std::string& notes_path) {
    const int fd = open(notes_path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    std::vector<std::byte> notes(64 << 10);
    const ssize_t got = read(fd, notes.data(), notes.size());
    close(fd);
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    return build_id_in_notes(std::span{notes}.first(size), std::endian::native == std::endian::little);
}

}  // namespace anyperf::symbols
