// jit_dump.cpp: the layouts are those of tools/perf/util/jitdump.h. Numbers have the byte order of the machine that
// wrote them, which the magic number shows; code of another machine has names all the same.
#include "symbols/jit/jit_dump.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "try.h"

namespace anyperf::symbols {

namespace {

constexpr std::uint32_t kJitMagic = 0x4a69'5444;  // "JiTD"
constexpr std::uint64_t kOtherClock = 1;          // JITDUMP_FLAGS_ARCH_TIMESTAMP
constexpr std::size_t kJitHeader = 40, kJitPrefix = 16, kJitLoad = 40, kJitMove = 48;
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kJitLines = 16, kJitLine = 16;  // before the lines, and before the name of a line's file
constexpr std::uint32_t kMostLineBytes = 64 << 20;
enum : std::uint32_t { kCodeLoad = 0, kCodeMove = 1, kCodeLines = 2, kCodeClose = 3 };

class DumpReader {
  public:
    DumpReader(std::istream& file, const std::string& path) : file_(file), path_(path) {}

    Result<JitDump> read() {
        TRY(read_header());
        while (read_record()) {
        }
        dump_.symbols.finish();
        std::ranges::stable_sort(dump_.lines, {}, &JitLine::file_offset);
        return std::move(dump_);
    }

  private:
    template <class Number>
    Number number(const std::byte* from) const {
        Number value;
        std::memcpy(&value, from, sizeof value);
        return foreign_ ? std::byteswap(value) : value;
    }
    std::uint32_t word(const std::byte* from) const { return number<std::uint32_t>(from); }
    std::uint64_t wide(const std::byte* from) const { return number<std::uint64_t>(from); }

    template <std::size_t kBytes>
    std::optional<std::array<std::byte, kBytes>> next() {
        std::array<std::byte, kBytes> bytes;
        file_.read(reinterpret_cast<char*>(bytes.data()), kBytes);
        return file_ ? std::optional{bytes} : std::nullopt;
    }

    Result<void> read_header() {
        const auto header = next<kJitHeader>();
        if (!header) return wrong("it has no header");
        if (word(header->data()) != kJitMagic) foreign_ = true;
        if (word(header->data()) != kJitMagic) return wrong("it does not begin as a jitdump");
        const std::uint32_t size = word(header->data() + 8);
        if (size < kJitHeader) return wrong("its header is too short");
        dump_.path = path_;
        dump_.machine = word(header->data() + 12);
        dump_.other_clock = (wide(header->data() + 32) & kOtherClock) != 0;
        at_ = size;
        return {};
    }

    std::unexpected<Error> wrong(const std::string& cause) const {
        return std::unexpected(Error{"cannot read " + path_, cause, {}});
    }

    /// False: there is no further complete record.
    bool read_record() {
        file_.seekg(static_cast<std::streamoff>(at_));
        const auto prefix = next<kJitPrefix>();
        if (!prefix) return false;
        const std::uint32_t kind = word(prefix->data()), size = word(prefix->data() + 4);
        const std::uint64_t time = wide(prefix->data() + 8);
        if (size < kJitPrefix || kind == kCodeClose) return false;
        bool whole = true;
        if (kind == kCodeLoad) whole = read_load(time, size);
        if (kind == kCodeMove) whole = read_move(time, size);
        if (kind == kCodeLines && size < kMostLineBytes) whole = read_lines(size);
        at_ += size;
        return whole;
    }

    /// Its name and its bytes come after it.
    bool read_load(std::uint64_t time, std::uint32_t size) {
        const auto load = next<kJitLoad>();
        if (!load) return false;
        const std::uint64_t start = wide(load->data() + 16), bytes = wide(load->data() + 24);
        const std::uint64_t begin = at_ + kJitPrefix + kJitLoad, end = at_ + size;
        if (size < kJitPrefix + kJitLoad || bytes > end - begin)
            return true;  // its own fault; the next one may be right
        std::string name(std::min<std::uint64_t>(end - begin - bytes, kLongestName), '\0');
        file_.read(name.data(), static_cast<std::streamsize>(name.size()));
        if (!file_) return false;
        name.resize(std::min(name.find('\0'), name.size()));
        const std::uint64_t offset = end - bytes;
        if (bytes == 0 || bytes > ~start) return true;
        dump_.loaded.push_back({time, start, bytes, offset});
        dump_.symbols.add(offset, bytes, name, {});
        offsets_.insert_or_assign(wide(load->data() + 32), offset);
        if (coming_function_ == start) add_lines(start, bytes, offset);
        coming_.clear();
        return true;
    }

    bool read_move(std::uint64_t time, std::uint32_t size) {
        const auto move = next<kJitMove>();
        if (!move) return false;
        const auto moved = offsets_.find(wide(move->data() + 40));
        if (size < kJitPrefix + kJitMove || moved == offsets_.end()) return true;
        const std::uint64_t start = wide(move->data() + 24), bytes = wide(move->data() + 32);
        if (bytes != 0 && bytes <= ~start) dump_.moved.push_back({time, start, bytes, moved->second});
        return true;
    }

    /// They come before the code that they are about, with its addresses.
    bool read_lines(std::uint32_t size) {
        if (size < kJitPrefix + kJitLines) return true;
        std::vector<std::byte> body(size - kJitPrefix);
        file_.read(reinterpret_cast<char*>(body.data()), static_cast<std::streamsize>(body.size()));
        if (!file_) return false;
        coming_.clear();
        coming_function_ = wide(body.data());
        const std::uint64_t count = wide(body.data() + 8);
        std::size_t at = kJitLines;
        for (std::uint64_t i = 0; i < count && body.size() - at > kJitLine; ++i) {
            const std::byte* const entry = body.data() + at;
            const std::string_view rest{reinterpret_cast<const char*>(entry) + kJitLine, body.size() - at - kJitLine};
            const std::string_view name = rest.substr(0, rest.find('\0'));
            at = std::min(body.size(), at + kJitLine + name.size() + 1);
            coming_.push_back({wide(entry), word(entry + 8), file_named(name)});
        }
        return true;
    }

    /// "\xff" is the file of the line before.
    std::uint32_t file_named(std::string_view name) {
        if (name == "\xff" && !coming_.empty()) return coming_.back().file;
        const auto [known, is_new] = file_numbers_.try_emplace(std::string{name.substr(0, kLongestName)},
                                                               static_cast<std::uint32_t>(dump_.files.size()));
        if (is_new) dump_.files.push_back(known->first);
        return known->second;
    }

    /// The lines that have come are those of this code.
    void add_lines(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
        for (const JitLine& line : coming_)
            if (line.file_offset - start < bytes)
                dump_.lines.push_back({line.file_offset - start + offset, line.line, line.file});
    }

    std::istream& file_;
    const std::string& path_;
    JitDump dump_;
    bool foreign_ = false;
    std::uint64_t at_ = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> offsets_;  // of code, by its index
    std::unordered_map<std::string, std::uint32_t> file_numbers_;
    std::vector<JitLine> coming_;  // of the next code; with addresses in place of offsets
    std::uint64_t coming_function_ = 0;
};

}  // namespace

bool is_jit_dump(std::string_view path) {
    constexpr std::string_view kBegin = "jit-", kEnd = ".dump";
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) return false;
    name = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    return std::ranges::all_of(name, [](char each) { return each >= '0' && each <= '9'; });
}

std::uint64_t JitDump::address_of(std::uint64_t file_offset) const {
    const auto after = std::ranges::upper_bound(loaded, file_offset, {}, &JitCode::file_offset);
    if (after == loaded.begin()) return file_offset;
    return after[-1].start + (file_offset - after[-1].file_offset);
}

const JitLine* JitDump::line_at(std::uint64_t file_offset, std::uint64_t function) const {
    const auto after = std::ranges::upper_bound(lines, file_offset, {}, &JitLine::file_offset);
    return after != lines.begin() && after[-1].file_offset >= function ? &after[-1] : nullptr;
}

std::vector<std::byte> JitDump::read_code(std::uint64_t file_offset, std::uint64_t size) const {
    std::vector<std::byte> bytes(size);
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(file_offset));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    return file ? bytes : std::vector<std::byte>{};
}

Result<JitDump> read_jit_dump(std::istream& file, const std::string& path) {
    return DumpReader{file, path}.read();
}

Result<JitDump> read_jit_dump(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::unexpected(Error{"cannot read " + path, strerror(errno), {}});
    return read_jit_dump(file, path);
}

}  // namespace anyperf::symbols
