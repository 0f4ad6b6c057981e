// application_maps.cpp: reads a list of mappings as a whole, splits or drops its lines, and writes the result to a
// memfd. It uses no heap: the text and a buffer for the output are in memory reserved for them.
//
// Each line goes through three steps, which may split it or join it with others:
//
//   1. for_each_part() removes what is the engine's (own_pages).
//   2. with_permissions() gives each part the permissions that the application asked for. It finds them in the
//      engine's map of executable memory (ExecutableMap).
//   3. add() joins neighbours that differ only because the engine split them. It joins executable parts only: other
//      lines are the kernel's own and stay as they are.
//
// The format is that of show_vma_header_prefix() (Linux, fs/proc/task_mmu.c).
#include "engine/syscalls/application_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/freestanding/copied_text.h"
#include "engine/freestanding/idle_text.h"
#include "engine/freestanding/memory_file.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"
#include "engine/syscalls/made_files.h"
#include "engine/time/virtual_clock.h"

namespace anyperf::engine {

namespace {

constexpr std::array<std::string_view, 3> kNames{"maps", "smaps", "numa_maps"};
constexpr std::uint64_t kRoom = std::uint64_t{64} << 20;    // reserved; only as much is touched as the file is long
constexpr std::size_t kOutputRoom = std::size_t{64} << 10;  // at the end of it: of what is written at once

/// Removes a hexadecimal number of at most 16 digits from the start of `text`. False if `text` has none.
bool take_hex(std::string_view& text, std::uint64_t& out) {
    std::size_t digits = 0;
    out = 0;
    for (; digits < text.size() && digits < 16; ++digits) {
        const char c = text[digits];
        const bool letter = c >= 'a' && c <= 'f';
        if (!letter && (c < '0' || c > '9')) break;
        out = out * 16 + static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
    }
    text.remove_prefix(digits);
    return digits > 0;
}

using Digits = char[16];

/// The value with at least `least` digits, as the kernel writes it.
std::string_view hexadecimal(std::uint64_t value, unsigned least, Digits& digits) {
    unsigned count = 0;
    for (; value != 0 || count < least; value >>= 4) digits[15 - count++] = "0123456789abcdef"[value & 15];
    return {digits + 16 - count, count};
}

// Only the beginning of a line is parsed. A line that does not parse is written unchanged, because a newer kernel may
// add to the format.

/// Removes the addresses at the start of a line: "START-END " or, in numa_maps, "START ". In numa_maps `end` becomes
/// `start` + 1. False if the line does not begin with addresses.
bool take_range(std::string_view& line, std::uint64_t& start, std::uint64_t& end) {
    std::string_view rest = line;
    if (!take_hex(rest, start)) return false;
    end = start + 1;
    if (rest.starts_with('-')) {
        rest.remove_prefix(1);
        if (!take_hex(rest, end)) return false;
    }
    if (!rest.starts_with(' ')) return false;
    line = rest;
    return true;
}

/// Removes " MAJOR:MINOR INODE". False if the text does not begin so.
bool take_file(std::string_view& text, std::uint64_t& device, std::uint64_t& inode) {
    std::uint64_t major_number = 0;
    std::uint64_t minor_number = 0;
    const auto pass = [&text](char expected) {
        if (!text.starts_with(expected)) return false;
        text.remove_prefix(1);
        return true;
    };
    if (!pass(' ') || !take_hex(text, major_number) || !pass(':') || !take_hex(text, minor_number) || !pass(' '))
        return false;
    device = makedev(static_cast<unsigned>(major_number), static_cast<unsigned>(minor_number));
    take_decimal(text, inode);
    return true;
}

/// Calls `visit` with the start and the end of each part of [start, end) that is the application's.
template <class Visit>
void for_each_part(std::uint64_t start, std::uint64_t end, Visit visit) {
    while (start < end) {
        const OwnPages::Range own = own_pages.first_in(start, end);
        const std::uint64_t until = own.end == 0 ? end : std::max(own.start, start);
        if (until > start) visit(start, until);
        start = own.end == 0 ? end : own.end;
    }
}

/// What a line of maps has after the addresses: " rwxp OFFSET DEVICE INODE NAME".
struct LineRest {
    char permissions[5] = {};  ///< a blank, then r, w and x or dashes, then s or p
    std::uint64_t offset = 0;
    std::string_view tail;  ///< from the blank after the offset on

    /// False if the text has another format.
    static bool parse(std::string_view text, LineRest& out) {
        if (text.size() < sizeof permissions + 1) return false;
        std::ranges::copy_n(text.begin(), sizeof permissions, out.permissions);
        out.tail = text.substr(sizeof permissions + 1);
        return take_hex(out.tail, out.offset);
    }
    /// False for device 00:00 and inode 0: anonymous memory, whose offset does not grow with the address.
    bool is_file() const { return !tail.starts_with(" 00:00 0"); }
};

/// Writes the lines of a list that are the application's to a descriptor.
class Filter {
  public:
    /// How much of a line may change, by the kind of file. In smaps, figures of the whole mapping follow its line. They
    /// cannot be divided, so they follow the line of its last part.
    enum class Lines : std::uint8_t {
        without_end,  ///< numa_maps: a line has no end address and is not split
        split,        ///< smaps: a line may be split; details follow it
        whole,        ///< maps: a line may be split, and joined with others
    };
    /// The engine's executable map must not change meanwhile. `buffer` has kOutputRoom bytes.
    Filter(int out, Lines lines, const Engine& engine, char* buffer)
        : out_(out), lines_(lines), engine_(engine), executable_(engine.cache.executable), buffer_(buffer) {}

    /// Takes the next line of the file, with its newline.
    void line(std::string_view text) {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        std::string_view rest = text;
        if (take_range(rest, start, end))
            mapping(start, end, rest, text);
        else if (shown_)  // a detail of the mapping above (smaps)
            detail(text);
    }
    /// Writes what is still held back. Call it once, after the last line.
    void flush() {
        write_pending();
        write_details();
        write_buffer();
    }

  private:
    /// A line that the next one may continue.
    struct Pending {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        LineRest rest;
        bool is_code = false;  ///< executable: the engine may have split it
    };

    // A failed write shortens the listing: it is a memfd, so only a lack of memory can cause it.
    void write_buffer() {
        kernel_call(__NR_write, static_cast<unsigned>(out_), address_of(buffer_), used_);
        used_ = 0;
    }
    /// Lines that follow each other in the file are written together: smaps has some 20 details for each mapping.
    void detail(std::string_view text) {
        if (has_virtual_clock(engine_) && is_usage(text)) return write_no_usage(text);
        if (details_.data() + details_.size() != text.data()) {
            write_details();
            details_ = text.substr(0, 0);
        }
        details_ = {details_.data(), details_.size() + text.size()};
    }
    void write_no_usage(std::string_view text) {
        Line out;
        put_no_usage(text, out);
        write(out.view());
    }
    /// "ADDRESS POLICY file=NAME mapped=3 N0=3 kernelpagesize_kB=4"
    void write_numa_line(std::string_view text) {
        while (!text.empty()) {
            const std::size_t length = std::min(text.find_first_of(" \n"), text.size() - 1) + 1;
            const std::string_view word = text.substr(0, length);
            const std::size_t name = word.find('=');
            const bool counts = name != std::string_view::npos && word.find("kB=") == std::string_view::npos &&
                                is_number(piece_of(word, name + 1, length - 1));
            if (counts) {
                if (word.ends_with('\n')) write("\n");
            } else {
                write(word);
            }
            text.remove_prefix(length);
        }
    }
    void write_details() {
        const std::string_view details = details_;
        details_ = {};
        if (!details.empty()) copy(details);
    }
    void mapping(std::uint64_t start, std::uint64_t end, std::string_view rest, std::string_view whole) {
        shown_ = false;
        // A part that begins later in a file's mapping has a greater offset.
        for_each_part(start, end, [&](std::uint64_t from, std::uint64_t until) {
            shown_ = true;
            LineRest parsed;
            if (lines_ == Lines::without_end && has_virtual_clock(engine_)) return write_numa_line(whole);
            if (lines_ == Lines::without_end || !LineRest::parse(rest, parsed)) return write(whole);
            if (parsed.is_file()) parsed.offset += from - start;
            with_permissions(from, until, parsed);
        });
    }
    /// Adds the lines of [start, end), which is part of one of the kernel's mappings.
    void with_permissions(std::uint64_t start, std::uint64_t end, LineRest rest) {
        while (start < end) {
            const ExecutableRange* const range = executable_.find(start);
            LineRest part = rest;
            if (range != nullptr && range->unreadable) part.permissions[1] = '-';
            if (range != nullptr && range->writable) part.permissions[2] = 'w';
            // Only lines of `maps` are divided where the permissions change. In smaps the whole part gets the
            // permissions of its first page.
            const bool splits = lines_ == Lines::whole && range != nullptr;
            const std::uint64_t until = splits ? std::min(end, range->end) : end;
            add({start, until, part, range != nullptr});
            if (rest.is_file()) rest.offset += until - start;
            start = until;
        }
    }
    void add(const Pending& line) {
        if (lines_ == Lines::whole && continues(line)) {
            pending_.end = line.end;
            return;
        }
        write_pending();
        pending_ = line;
        if (lines_ != Lines::whole) write_pending();
    }
    /// Whether the kernel would show `line` and the pending one as one mapping: they touch, their permissions, device,
    /// inode and name are equal, and for a file the offsets continue.
    bool continues(const Pending& line) const {
        const LineRest& before = pending_.rest;
        return pending_.is_code && line.is_code && pending_.end == line.start && before.tail == line.rest.tail &&
               std::ranges::equal(before.permissions, line.rest.permissions) &&
               (!before.is_file() || before.offset + (pending_.end - pending_.start) == line.rest.offset);
    }
    void write_pending() {
        if (pending_.end == 0) return;
        padded(pending_.start);
        write("-");
        padded(pending_.end);
        write({pending_.rest.permissions, sizeof pending_.rest.permissions});
        write(" ");
        padded(pending_.rest.offset);
        write_tail(pending_.rest.tail, line_length(pending_));
        pending_ = {};
    }
    /// Of a line: the characters before its tail.
    static std::size_t line_length(const Pending& line) {
        Digits digits;
        const auto length = [&digits](std::uint64_t value) { return hexadecimal(value, 8, digits).size(); };
        return length(line.start) + 1 + length(line.end) + sizeof line.rest.permissions + 1 + length(line.rest.offset);
    }
    /// Writes " DEVICE INODE NAME", in a deterministic run with the numbers that its programs see. `before`: characters
    /// of the line.
    void write_tail(std::string_view tail, std::size_t before) {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::string_view name = tail;
        if (!has_virtual_clock(engine_) || !take_file(name, device, inode) || inode == 0) return write(tail);
        constexpr std::size_t kNameColumn = 73;  // as seq_setwidth() in show_vma_header_prefix()
        const std::uint64_t shown = shown_device(engine_, device);
        Digits digits;
        Line out;
        out.text(" ").text(hexadecimal(major(shown), 2, digits)).text(":");
        out.text(hexadecimal(minor(shown), 2, digits))
            .text(" ")
            .decimal(static_cast<std::int64_t>(shown_inode(engine_, device, inode, S_IFREG)));
        out.text(" ");
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name != "\n" && before + out.view().size() < kNameColumn) out.text(" ");
        write(out.view());
        write(name);
    }
    /// Writes the value with at least eight digits, as the kernel does.
    void padded(std::uint64_t value) {
        Digits digits;
        write(hexadecimal(value, 8, digits));
    }
    void write(std::string_view text) {
        write_details();
        copy(text);
    }
    void copy(std::string_view text) {
        while (!text.empty()) {
            const std::size_t part = std::min(text.size(), kOutputRoom - used_);
            memcpy(buffer_ + used_, text.data(), part);
            used_ += part;
            text.remove_prefix(part);
            if (used_ == kOutputRoom) write_buffer();
        }
    }

    int out_;
    Lines lines_;
    const Engine& engine_;
    const ExecutableMap& executable_;
    Pending pending_;
    bool shown_ = true;
    std::string_view details_;  ///< of a mapping that is shown; not written yet
    char* buffer_;
    std::size_t used_ = 0;
};

/// The text of a file, in reserved memory.
class FileText {
  public:
    /// Reads the whole file before any line is used. The kernel makes the text while it is read, so a later read could
    /// see other mappings.
    explicit FileText(const char* path) : room_(static_cast<char*>(reserve_pages(kRoom))) {
        length_ = room_ == nullptr ? -ENOMEM : read_whole(path);
    }
    ~FileText() {
        if (room_ != nullptr) release_pages(room_, kRoom);
    }
    FileText(const FileText&) = delete;
    FileText& operator=(const FileText&) = delete;

    /// kOutputRoom bytes for what is made of the text.
    char* output() const { return room_ + kRoom - kOutputRoom; }
    /// 0, or the negated errno of a file that could not be read.
    long error() const { return is_error(length_) ? length_ : 0; }

    /// Calls `visit` with each line and its newline.
    template <class Visit>
    void for_each_line(Visit visit) const {
        for (std::string_view rest{room_, is_error(length_) ? 0 : static_cast<std::size_t>(length_)}; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
            visit(rest.substr(0, end));
            rest.remove_prefix(end);
        }
    }

  private:
    long read_whole(const char* path) {
        constexpr std::uint64_t kLongest = kRoom - kOutputRoom;
        const long fd = kernel_call(__NR_open, address_of(path), O_RDONLY | O_CLOEXEC);
        if (is_error(fd)) return fd;
        std::uint64_t length = 0;
        long got = 0;
        do {
            got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(room_) + length, kLongest - length);
            if (got > 0) length += static_cast<std::uint64_t>(got);
        } while (got > 0 && length < kLongest);
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
        return is_error(got) ? got : static_cast<long>(length);
    }

    char* room_;
    long length_ = 0;
};

}  // namespace

bool is_maps_file(std::string_view name) {
    return std::ranges::find(kNames, name) != kNames.end();
}

long open_filtered_maps(Engine& engine, std::string_view name, std::uint64_t flags) {
    if ((flags & O_ACCMODE) != O_RDONLY) return -EACCES;
    Line path;
    path.text("/proc/self/").text(name).text(std::string_view{"\0", 1});
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const long fd = kernel_call(__NR_memfd_create, address_of(name.data()), MFD_CLOEXEC);
    if (is_error(fd)) return fd;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const FileText text{path.view().data()};
    if (text.error() != 0) {
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
        return text.error();
    }
    using enum Filter::Lines;
    const auto lines = name == "numa_maps" ? without_end : name == "maps" ? whole : split;
    {
        // The lock keeps `executable` as it is. The text was read before: reading under the lock would stop all
        // translation.
        const LockGuard held{engine.cache.lock};
        Filter filter{static_cast<int>(fd), lines, engine, text.output()};
        text.for_each_line([&](std::string_view line) { filter.line(line); });
        filter.flush();
    }
    // The application reads the file from its start and must not write to it.
    kernel_call(__NR_lseek, static_cast<std::uint64_t>(fd), 0, 0);
    return read_only(fd, flags);
}

namespace {

/// Parses the rest of a line of maps after the addresses: " rw-p 00001000 fe:01 1234 …". False if the line has another
/// format.
bool take_rest(std::string_view line, ApplicationMapping& mapping) {
    if (line.size() < 6) return false;
    if (line[1] == 'r') mapping.protection |= PROT_READ;
    if (line[2] == 'w') mapping.protection |= PROT_WRITE;
    if (line[3] == 'x') mapping.protection |= PROT_EXEC;
    mapping.flags = line[4] == 's' ? MAP_SHARED : MAP_PRIVATE;
    line.remove_prefix(6);
    std::uint64_t device = 0;
    if (!take_hex(line, mapping.offset) || !take_file(line, device, mapping.inode)) return false;
    mapping.device = std::uint64_t{major(device)} << 32 | minor(device);
    mapping.is_stack = mapping.inode == 0 && line.ends_with("[stack]\n");
    return true;
}

/// Calls `visit` with each mapping of the process, the engine's included.
template <class Visit>
void for_each_line_of_maps(Visit visit) {
    FileText{"/proc/self/maps"}.for_each_line([&](std::string_view line) {
        ApplicationMapping mapping;
        if (take_range(line, mapping.start, mapping.end) && take_rest(line, mapping)) visit(mapping);
    });
}

}  // namespace

void for_each_mapping(void (*visit)(void* context, const ApplicationMapping&), void* context) {
    for_each_line_of_maps([&](const ApplicationMapping& whole) {
        for_each_part(whole.start, whole.end, [&](std::uint64_t from, std::uint64_t until) {
            ApplicationMapping mapping = whole;
            mapping.start = from, mapping.end = until;
            mapping.offset += from - whole.start;
            visit(context, mapping);
        });
    });
}

ApplicationMapping mapping_at(std::uint64_t address) {
    ApplicationMapping found;
    for_each_line_of_maps([&](const ApplicationMapping& mapping) {
        if (address >= mapping.start && address < mapping.end) found = mapping;
    });
    return found;
}

std::size_t list_mappings(ApplicationMapping* out, std::size_t room) {
    struct List {
        ApplicationMapping* out;
        std::size_t room;
        std::size_t count;
    } list{out, room, 0};
    for_each_mapping(
        [](void* to, const ApplicationMapping& mapping) {
            List& into = *static_cast<List*>(to);
            if (into.count < into.room) into.out[into.count++] = mapping;
        },
        &list);
    return list.count;
}

}  // namespace anyperf::engine
