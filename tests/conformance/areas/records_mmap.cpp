// records_mmap.cpp: which mappings write MMAP and MMAP2 records, and the fields of these: "PERF_RECORD_MMAP" and
// "PERF_RECORD_MMAP2" of the manual.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr std::size_t kLength = 3 * kPageBytes;

Attr recording(void (*change)(Attr&)) {
    return changed(dummy(), [&](Attr& a) {
        a.disabled = 0;
        change(a);
    });
}

Attr mmaps() {
    return recording([](Attr& a) { a.mmap = 1; });
}
Attr mmap2s() {
    return recording([](Attr& a) { a.mmap = a.mmap2 = 1; });
}

std::string own_path() {
    std::array<char, PATH_MAX> path{};
    const auto bytes = ::readlink("/proc/self/exe", path.data(), path.size());
    return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

/// Maps pages of this program's file, or anonymous pages; the destructor unmaps them.
class Mapping {
  public:
    explicit Mapping(int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS, off_t offset = 0) {
        const int fd = (flags & MAP_ANONYMOUS) != 0 ? -1 : ::open(own_path().c_str(), O_RDONLY | O_CLOEXEC);
        memory_ = ::mmap(nullptr, kLength, protection, flags, fd, offset);
        if (fd >= 0) ::close(fd);
        if (memory_ == MAP_FAILED) throw Failure{"mmap failed: " + errno_name(errno)};
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(memory_, kLength); }
    void* memory() const { return memory_; }
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }

  private:
    void* memory_ = nullptr;
};

/// The record of the mapping at `address` among those of a type; ends the case if there is none.
Record record_of(const std::vector<Record>& records, std::uint32_t type, std::uint64_t address) {
    for (const Record& record : only(records, type))
        if (record.u64(8) == address) return record;
    throw Failure{"expected a record of type " + std::to_string(type) + " for the mapping"};
}

/// Whether there is a record of the mapping at `address`.
bool has_record(const std::vector<Record>& records, std::uint64_t address) {
    for (const Record& record : records)
        if ((record.type == PERF_RECORD_MMAP || record.type == PERF_RECORD_MMAP2) && record.u64(8) == address)
            return true;
    return false;
}

void check_head(const Record& record, std::uint64_t address, std::uint64_t offset) {
    want_equal("pid", static_cast<pid_t>(record.u32(0)), ::getpid());
    want_equal("tid", static_cast<pid_t>(record.u32(4)), thread_id());
    want_equal("addr", record.u64(8), address);
    want_equal("len", record.u64(16), kLength);
    want_equal("pgoff", record.u64(24), offset);
}

void file() {
    const Event event{mmaps()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC, MAP_PRIVATE, 4096};
    const Record record = record_of(ring.drain(), PERF_RECORD_MMAP, mapping.address());
    check_head(record, mapping.address(), 4096);
    want_equal("filename", record.text(32), own_path());
    want_equal("size % 8", record.size % 8, 0);
    want_equal("misc", record.misc, PERF_RECORD_MISC_USER);
}

void anonymous() {
    const Event event{mmaps()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC};
    const Record record = record_of(ring.drain(), PERF_RECORD_MMAP, mapping.address());
    check_head(record, mapping.address(), mapping.address());
    want_equal("filename", record.text(32), "//anon");
}

void shared_anonymous() {
    const Event event{mmaps()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS};
    want_equal("filename", record_of(ring.drain(), PERF_RECORD_MMAP, mapping.address()).text(32),
               "/dev/zero (deleted)");
}

void data(const Attr& attr, bool expected) {
    const Event event{attr};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_WRITE};
    const auto records = ring.drain();
    want_equal("record of a data mapping", has_record(records, mapping.address()), expected);
    if (expected)
        want_equal("misc", record_of(records, PERF_RECORD_MMAP, mapping.address()).misc,
                   PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
}

void code_with_mmap_data_only() {
    const Event event{recording([](Attr& a) { a.mmap_data = 1; })};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC};
    want("there is no record of the executable mapping", !has_record(ring.drain(), mapping.address()));
}

void made_executable() {
    const Event event{mmaps()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_WRITE};
    want("there is no record of the data mapping", !has_record(ring.drain(), mapping.address()));
    ::mprotect(mapping.memory(), kLength, PROT_READ | PROT_EXEC);
    want("there is a record of mprotect", has_record(ring.drain(), mapping.address()));
}

void munmap_writes_none() {
    const Event event{mmaps()};
    Ring ring{event};
    {
        const Mapping mapping{PROT_READ | PROT_EXEC};
    }
    ring.drain();
    {
        const Mapping mapping{PROT_READ | PROT_EXEC};
    }
    want_equal("records of mmap and munmap", ring.drain().size(), 1U);
}

void made_read_only() {
    const Event event{recording([](Attr& a) { a.mmap_data = 1; })};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_WRITE};
    ring.drain();
    ::mprotect(mapping.memory(), kLength, PROT_READ);
    const Record record = record_of(ring.drain(), PERF_RECORD_MMAP, mapping.address());
    want_equal("misc", record.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
}

void heap_grows() {
    const Event event{recording([](Attr& a) { a.mmap_data = 1; })};
    Ring ring{event};
    // This process has been forked: the first growth of the heap is a separate area, which has no name yet.
    for (const char* const name : {"//anon", "[heap]"}) {
        ring.drain();
        const auto old = reinterpret_cast<std::uint64_t>(::sbrk(0));
        want("the heap grows", ::sbrk(3 * 4096) != reinterpret_cast<void*>(-1));
        const auto records = only(ring.drain(), PERF_RECORD_MMAP);
        want_equal("records", records.size(), 1U);
        want_equal("filename", records[0].text(32), name);
        want_equal("pgoff", records[0].u64(24), records[0].u64(8));
        want_equal("misc", records[0].misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
        want_at_least("end of the mapping", records[0].u64(8) + records[0].u64(16), old + std::uint64_t{3 * 4096});
    }
    want("an unchanged break writes no record", ::sbrk(0) != nullptr && ring.drain(PERF_RECORD_MMAP).empty());
}

void mapping_of_ring() {
    const Event event{recording([](Attr& a) { a.mmap_data = 1; })};
    Ring ring{event};
    const auto records = ring.drain(PERF_RECORD_MMAP);
    want_equal("records", records.size(), 1U);
    want_equal("filename", records[0].text(32), "anon_inode:[perf_event]");
}

void mmap2_file() {
    const Event event{mmap2s()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC, MAP_PRIVATE, 4096};
    const auto records = ring.drain();
    want_equal("MMAP records", only(records, PERF_RECORD_MMAP).size(), 0U);
    const Record record = record_of(records, PERF_RECORD_MMAP2, mapping.address());
    check_head(record, mapping.address(), 4096);
    struct stat file{};
    ::stat(own_path().c_str(), &file);
    want_equal("maj", record.u32(32), major(file.st_dev));
    want_equal("min", record.u32(36), minor(file.st_dev));
    want_equal("ino", record.u64(40), file.st_ino);
    want_equal("prot", record.u32(56), static_cast<std::uint32_t>(PROT_READ | PROT_EXEC));
    want_equal("flags", record.u32(60) & 3, std::uint32_t{MAP_PRIVATE});
    want_equal("filename", record.text(64), own_path());
}

void mmap2_shared() {
    const Event event{mmap2s()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC, MAP_SHARED};
    want_equal("flags", record_of(ring.drain(), PERF_RECORD_MMAP2, mapping.address()).u32(60) & 3,
               std::uint32_t{MAP_SHARED});
}

void mmap2_flags() {
    const Event event{mmap2s()};
    Ring ring{event};
    const auto flags_of = [&](int flags) {
        const Mapping mapping{PROT_READ | PROT_EXEC, flags};
        return record_of(ring.drain(), PERF_RECORD_MMAP2, mapping.address()).u32(60);
    };
    want_equal("private, anonymous, without a reserve", flags_of(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE),
               std::uint32_t{MAP_PRIVATE});
    want_equal("shared, anonymous", flags_of(MAP_SHARED | MAP_ANONYMOUS), std::uint32_t{MAP_SHARED});
    want_equal("of a file, checked", flags_of(MAP_SHARED_VALIDATE), std::uint32_t{MAP_SHARED});
    want_equal("locked", flags_of(MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED), std::uint32_t{MAP_PRIVATE | MAP_LOCKED});
}

void mmap2_anonymous() {
    const Event event{mmap2s()};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_WRITE | PROT_EXEC};
    const Record record = record_of(ring.drain(), PERF_RECORD_MMAP2, mapping.address());
    want_equal("ino", record.u64(40), 0U);
    want_equal("prot", record.u32(56), static_cast<std::uint32_t>(PROT_READ | PROT_WRITE | PROT_EXEC));
    want_equal("filename", record.text(64), "//anon");
}

/// The build id in this program's notes, or "" if it has none.
std::string own_build_id() {
    const std::string file = read_text(own_path());
    Elf64_Ehdr header{};
    file.copy(reinterpret_cast<char*>(&header), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        file.copy(reinterpret_cast<char*>(&segment), sizeof segment, header.e_phoff + i * sizeof segment);
        if (segment.p_type != PT_NOTE) continue;
        for (std::size_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz;) {
            Elf64_Nhdr note{};
            file.copy(reinterpret_cast<char*>(&note), sizeof note, at);
            const std::size_t name = at + sizeof note;
            const std::size_t bytes = name + (std::size_t{note.n_namesz} + 3) / 4 * 4;
            if (note.n_type == NT_GNU_BUILD_ID && file.compare(name, 4, std::string{"GNU\0", 4}) == 0)
                return file.substr(bytes, note.n_descsz);
            at = bytes + (std::size_t{note.n_descsz} + 3) / 4 * 4;
        }
    }
    return {};
}

void build_id() {
    const Event event{changed(mmap2s(), [](Attr& a) { a.build_id = 1; })};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC, MAP_PRIVATE};
    const std::string id = own_build_id();
    if (id.empty()) throw Skip{"this program has no build id"};
    const Record record = record_of(ring.drain(), PERF_RECORD_MMAP2, mapping.address());
    want_equal("misc", record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, PERF_RECORD_MISC_MMAP_BUILD_ID);
    want_equal("build_id_size", static_cast<std::size_t>(record.body.at(32)), id.size());
    want("the id is that of the file",
         id == std::string(record.body.begin() + 36, record.body.begin() + 36 + 20).substr(0, id.size()));
    want_equal("filename", record.text(64), own_path());
}

void build_id_of_anonymous() {
    const Event event{changed(mmap2s(), [](Attr& a) { a.build_id = 1; })};
    Ring ring{event};
    const Mapping mapping{PROT_READ | PROT_EXEC};
    want_equal("misc",
               record_of(ring.drain(), PERF_RECORD_MMAP2, mapping.address()).misc & PERF_RECORD_MISC_MMAP_BUILD_ID, 0);
}

void at_exec() {
    Child child{{[] { exec_helper({"nothing"}); }}};
    const Event event{recording([](Attr& a) { a.mmap = a.comm = a.task = 1; }), child.pid()};
    Ring ring{event, 16};
    child.last_step();
    child.join();
    const auto records = ring.drain();
    want_at_least("records", records.size(), 4U);
    want_equal("type of the first record, COMM", records.front().type, std::uint32_t{PERF_RECORD_COMM});
    want_equal("type of the last record, EXIT", records.back().type, std::uint32_t{PERF_RECORD_EXIT});
    bool program = false;
    bool vdso = false;
    for (const Record& record : only(records, PERF_RECORD_MMAP)) {
        program = program || record.text(32) == own_path();
        vdso = vdso || record.text(32) == "[vdso]";
    }
    want("a record names the program", program);
    want("a record names [vdso]", vdso);
}

}  // namespace

std::vector<Case> record_mmap_cases() {
    return {
        {"file", "MMAP of an executable file mapping has pid, tid, addr, len, pgoff and filename", kNothing, file},
        {"anonymous", "MMAP of an anonymous mapping has the filename //anon", kNothing, anonymous},
        {"shared_anonymous", "MMAP of a shared anonymous mapping has the filename /dev/zero (deleted)", kNothing,
         shared_anonymous},
        {"data_unasked", "mmap alone writes no records of mappings without PROT_EXEC", kNothing,
         [] { data(mmaps(), false); }},
        {"data", "mmap_data writes records of mappings without PROT_EXEC, with MMAP_DATA in misc", kNothing,
         [] { data(recording([](Attr& a) { a.mmap_data = 1; }), true); }},
        {"data_and_code", "mmap with mmap_data writes records of mappings without PROT_EXEC, too", kNothing,
         [] { data(recording([](Attr& a) { a.mmap = a.mmap_data = 1; }), true); }},
        {"data_only", "mmap_data alone writes no records of executable mappings", kNothing, code_with_mmap_data_only},
        {"mprotect", "mprotect with PROT_EXEC writes a record", kNothing, made_executable},
        {"munmap", "munmap writes no record", kNothing, munmap_writes_none},
        {"data_mprotect", "with mmap_data mprotect without PROT_EXEC writes a record", kNothing, made_read_only},
        {"heap", "with mmap_data each growth of the heap writes a record", kNothing, heap_grows},
        {"ring", "with mmap_data the first record is that of the ring's own mapping", kNothing, mapping_of_ring},
        {"mmap2", "mmap2 writes MMAP2 instead of MMAP, with device, inode, protection and flags", kNothing, mmap2_file},
        {"mmap2_flags",
         "the flags of MMAP2 are those of the mapping: of the call's, only whether it is shared or locked", kNothing,
         mmap2_flags},
        {"mmap2_shared", "the flags of MMAP2 distinguish shared from private mappings", kNothing, mmap2_shared},
        {"mmap2_anonymous", "MMAP2 of an anonymous mapping has inode 0", kNothing, mmap2_anonymous},
        {"build_id", "with build_id MMAP2 has the file's build id instead of its inode", kNothing, build_id},
        {"build_id_none", "with build_id MMAP2 of a mapping without build id does not have MMAP_BUILD_ID in misc",
         kNothing, build_id_of_anonymous},
        {"exec", "an exec writes COMM first, then the MMAP records of the program and [vdso]; EXIT is the last record",
         kNothing, at_exec},
    };
}

}  // namespace conformance
