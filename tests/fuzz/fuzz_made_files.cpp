// fuzz_made_files.cpp: the table of the files that a deterministic run has made (run/made_files.h), looked up as the
// broker does for records, while a program writes wild words into it. All look-ups stay in the table: it lies between
// pages that can't be accessed. What they find is an entry of the table.
#include "run/made_files.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "input.h"

namespace {

using anyperf::fuzz::Input;
using anyperf::run::MadeFile;
using anyperf::run::MadeFiles;

constexpr std::size_t kBytes = (sizeof(MadeFiles) + 4095) / 4096 * 4096;
/// More than any index of 32 bits can reach.
constexpr std::size_t kGuard = std::size_t{1} << 38;

char* table() {
    static char* const start = [] {
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* const got = ::mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE, kFlags, -1, 0);
        if (got == MAP_FAILED) std::abort();
        char* const inside = static_cast<char*>(got) + kGuard;
        if (::mprotect(inside, kBytes, PROT_READ | PROT_WRITE) != 0) std::abort();
        return inside;
    }();
    return start;
}

/// The arrays of the table, as far as a few files use them.
struct Part {
    std::size_t offset;
    std::size_t bytes;
};
constexpr std::array kParts{
    Part{offsetof(MadeFiles, numbers), 12},     Part{offsetof(MadeFiles, devices), 64},
    Part{offsetof(MadeFiles, device_kind), 64}, Part{offsetof(MadeFiles, slot), sizeof(MadeFiles::slot)},
    Part{offsetof(MadeFiles, inode), 512},      Part{offsetof(MadeFiles, device), 64},
    Part{offsetof(MadeFiles, state), 256},
};

void scribble(Input& input) {
    const Part& part = kParts[input.take<std::uint8_t>() % kParts.size()];
    const std::size_t place = part.offset + input.take<std::uint32_t>() % (part.bytes / 4) * 4;
    const auto value = input.take<std::uint32_t>();
    std::memcpy(table() + place, &value, sizeof value);
}

/// Replaces all of an array, as a look-up goes to few places of a large one.
void flood(Input& input) {
    const Part& part = kParts[input.take<std::uint8_t>() % kParts.size()];
    std::memset(table() + part.offset, input.take<std::uint8_t>(), part.bytes);
}

/// Changes the numbers of entries in the hash table, and leaves the bits of hashes above them: so look-ups come to wild
/// numbers.
void misdirect(MadeFiles& files, Input& input) {
    constexpr std::uint32_t kNumber = MadeFiles::kEntries * 2 - 1;
    const std::uint32_t number = input.take<std::uint32_t>() & kNumber;
    for (std::uint32_t& slot : files.slot)
        if (slot != 0) slot = (slot & ~kNumber) | number;
}

void must_be_entry(const MadeFile& file) {
    if (file && (file.entry() == 0 || file.entry() > MadeFiles::kEntries)) std::abort();
}

void look_up(MadeFiles& files, Input& input) {
    const std::uint64_t device = input.take<std::uint8_t>() % 8;
    const std::uint64_t inode = input.take<std::uint8_t>() % 32;  // some come again
    files.inode_in_record(device, inode);
    files.shown_device(device);
    const MadeFile found = files.find(device, inode, false);
    must_be_entry(found);
    if (found) {
        found.device();
        found.times();
        found.set_times().modified = 1;
    }
    const MadeFile entry = files.at(input.take<std::uint32_t>());
    must_be_entry(entry);
    if (entry) entry.shown_inode();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ::madvise(table(), kBytes, MADV_DONTNEED);  // zeros, as in a new run
    auto& files = *reinterpret_cast<MadeFiles*>(table());
    Input input{data, size};
    for (int step = 0; step < 64 && input.more(); ++step) {
        switch (input.take<std::uint8_t>() % 8) {
            case 0: flood(input); break;
            case 1:
            case 2: scribble(input); break;
            case 3: misdirect(files, input); break;
            default: look_up(files, input);
        }
    }
    return 0;
}
