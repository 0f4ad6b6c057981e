#include "engine/store/store.h"

#include <sys/stat.h>

#include <array>

#include "engine/freestanding/own_segments.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/pages_ahead.h"
#include "engine/freestanding/text.h"
#include "engine/store/checksum.h"
#include "engine/store/directory.h"
#include "engine/store/load_block.h"
#include "engine/x86_64/translate/routines.h"

namespace anyperf::engine {

namespace {

/// The build id of this executable (ld --build-id, SHA-1). False if it has none.
bool read_build_id(std::uint8_t (&out)[20]) {
    for (const Elf64_Phdr& segment : own_segments()) {
        if (segment.p_type != PT_NOTE) continue;
        for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= segment.p_memsz;) {
            const auto* const note = at_address<const Elf64_Nhdr>(own_base() + segment.p_vaddr + at);
            const std::uint64_t name = (note->n_namesz + 3u) & ~3u;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz == sizeof out) {
                __builtin_memcpy(out, at_address<const char>(address_of(note + 1) + name), sizeof out);
                return true;
            }
            at += sizeof *note + name + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return false;
}

void set_file(run::StoredCodeKey& key, const struct stat& status) {
    key.device = status.st_dev;
    key.inode = status.st_ino;
    key.bytes = static_cast<std::uint64_t>(status.st_size);
    key.modified_s = status.st_mtim.tv_sec;
    key.modified_ns = static_cast<std::uint32_t>(status.st_mtim.tv_nsec);
    key.changed_s = status.st_ctim.tv_sec;
    key.changed_ns = static_cast<std::uint32_t>(status.st_ctim.tv_nsec);
}

static_assert(sizeof run::StoredCodeKey::classes == sizeof(x86_64::ClassSet),
              "classes that the key lacks would not be counted");

}  // namespace

// Like an arena the area is near code and not among the program's mappings, whose addresses it must not change.
void Store::begin(const char* directory, std::uint32_t cpu, const Cache& cache, const Arena& arena) {
    constexpr std::uint64_t kAreaBytes = std::uint64_t{512} << 20;
    constexpr std::uint64_t kDistance = kAreaBytes + (std::uint64_t{64} << 20);
    if (directory[0] == 0 || !read_build_id(flavour_.engine_build)) return;
    if (!area_.reserve_at(address_of(arena.hot_start()) - kDistance, kAreaBytes) || !new_blocks_.reserve(area_)) return;
    mappings_ = static_cast<StoredMapping*>(area_.take(sizeof(StoredMapping) * (kMostMappings + 1)));
    if (mappings_ == nullptr) return;
    flavour_.cpu = cpu;
    flavour_.isa = static_cast<std::uint8_t>(cache.presented.level | (cache.presented.has_others ? 128 : 0));
    flavour_.emulated =
        static_cast<std::uint8_t>((cache.deterministic ? 1 : 0) | (cache.presented.emulates_rdtscp ? 2 : 0));
    directory_ = directory;
}

std::uint32_t Store::add_mapping(int fd, std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;
    struct stat status{};
    if (!on() || mapping_count_ == kMostMappings || offset + bytes > kMostBytes) return 0;
    if (is_error(kernel_call(__NR_fstat, static_cast<unsigned>(fd), address_of(&status))) || !S_ISREG(status.st_mode))
        return 0;
    StoredMapping& mapping = mappings_[mapping_count_ + 1];
    set_file(mapping.key, status);
    mapping.start = start;
    mapping.bytes = bytes;
    mapping.offset = offset;
    return ++mapping_count_;
}

bool Store::covers(const ExecutableRange& range, const x86_64::Counting& counting,
                   const ProcessInstrumentation& instrumentation) const {
    return on() && range.stored != 0 && !range.writable && !range.shared && !counting.recording &&
           !counting.predicting && counting.sums.count == 0 && !instrumentation.code.any() &&
           !instrumentation.targets.any() && !instrumentation.loads && !instrumentation.stores &&
           instrumentation.branches == 0;
}

// Blocks of another way of counting have been removed from the cache by the one who changed it.
void Store::follow_flavour(const Cache& cache, const x86_64::Counting& counting) {
    if (generation_ != cache.generation) new_blocks_.clear();
    generation_ = cache.generation;
    if (flavour_.classes == counting.open && (flavour_.budgeted != 0) == counting.budgeted &&
        flavour_.heat == cache.heat)
        return;
    for (std::uint32_t i = 1; i <= mapping_count_; ++i) close(mappings_[i]);
    new_blocks_.clear();
    flavour_.classes = counting.open;
    flavour_.budgeted = counting.budgeted;
    flavour_.heat = cache.heat;
    flavour_.machine = (counting.open & x86_64::kCostRows) == 0
                           ? 0
                           : static_cast<std::uint32_t>(checksum(counting.machine, sizeof *counting.machine));
}

void Store::set_flavour(run::StoredCodeKey& key) const {
    __builtin_memcpy(key.engine_build, flavour_.engine_build, sizeof key.engine_build);
    key.cpu = flavour_.cpu;
    key.classes = flavour_.classes;
    key.budgeted = flavour_.budgeted;
    key.isa = flavour_.isa;
    key.emulated = flavour_.emulated;
    key.heat = flavour_.heat;
    key.machine = flavour_.machine;
}

void Store::close(StoredMapping& mapping) {
    unmap_stored(mapping.file_bytes);
    mapping.file_bytes = {};
    mapping.file = {};
    mapping.opened = false;
    mapping.new_blocks = 0;
}

// A small file's pages are mapped at once, which is quicker than by faults; so are those of any file where page faults
// are counted, so that visits that load are quiet (memory/page_faults.h).
void Store::open(StoredMapping& mapping) {
    constexpr std::size_t kSmall = std::size_t{1} << 20;
    const PagesAhead::Around around;
    mapping.opened = true;
    set_flavour(mapping.key);
    const StoreDirectory directory{directory_};
    if (!directory.usable()) return;
    mapping.file_bytes = directory.map(StoredName{mapping.key}, area_);
    mapping.file = StoredFile{mapping.file_bytes, mapping.key};
    if (mapping.file.usable()) {
        if (PagesAhead::is_counting() || mapping.file_bytes.size() <= kSmall)
            map_present_pages(mapping.file_bytes.data(), mapping.file_bytes.size());
        return;
    }
    unmap_stored(mapping.file_bytes);
    mapping.file_bytes = {};
}

/// Whether [start, end) is code of the same mapping as `range`, and the program can write none of it.
bool Store::is_in_mapping(const Cache& cache, const ExecutableRange& range, std::uint64_t start, std::uint64_t end) {
    if (start >= range.start && end <= range.end) return true;
    const ExecutableRange* const other = cache.executable.find(start);
    return other != nullptr && end <= other->end && other->stored == range.stored && !other->writable && !other->shared;
}

/// Whether the code that the block was made from is what the program has in memory.
bool Store::is_unchanged(const Cache& cache, const ExecutableRange& range, const StoredBlock& stored,
                         std::uint64_t pc) {
    const StoredBlockHead& head = stored.head;
    for (std::size_t i = 0; i < head.ranges; ++i) {
        const std::uint64_t start = pc + static_cast<std::uint64_t>(std::int64_t{stored.ranges[i].from});
        if (!is_in_mapping(cache, range, start, start + stored.ranges[i].bytes)) return false;
    }
    return checksum_of_code(pc, stored.ranges, head.ranges) == head.code;
}

bool Store::load_one(Cache& cache, x86_64::TupleTable& tuples, const ExecutableRange& range, std::uint64_t pc,
                     std::uint32_t record, Entries entries, Loaded& loaded) {
    const StoredMapping& mapping = mappings_[range.stored];
    StoredBlock& stored = loaded.stored;
    if (!mapping.file.read(record, static_cast<std::uint32_t>(mapping.place_of(pc)), stored)) return false;
    if ((stored.budgeted() && flavour_.budgeted == 0) || !is_unchanged(cache, range, stored, pc)) return false;
    Arena* const arena = cache.is_full() ? nullptr : x86_64::prepared_arena(cache, pc);
    // A loaded block is written where it is executed.
    if (arena == nullptr || arena->has_separate_writes()) return false;
    const bool indirect = entries.indirect;
    entries.indirect = indirect || stored.indirect();
    loaded.block = load_block(cache, *arena, tuples, stored, pc, flavour_.classes, entries);
    if (loaded.block == nullptr || !cache.add(*loaded.block)) return false;
    // Its entry is reached from here on, as it has been in the process that stored it.
    if (loaded.block->indirect_entry != 0 && !indirect) cache.add_to_table(loaded.block->indirect_entry);
    return true;
}

/// Adds what follows a loaded block: where its exits led when it was stored, and where the function that it calls
/// returns.
void Store::add_successors(const Cache& cache, const Loaded& loaded, Wanted& wanted) {
    const Block& block = *loaded.block;
    const auto add = [&](std::uint64_t target, ExitId exit) {
        if (wanted.add({target, exit, 0, nullptr})) cache.prefetch(target);
    };
    for (std::uint32_t i = 0; i < block.exits; ++i)
        if (loaded.stored.exits[i].was_linked != 0)
            add(block.pc + static_cast<std::uint64_t>(std::int64_t{loaded.stored.exits[i].target}),
                block.first_exit + i);
    for (std::uint32_t i = 0; i < loaded.stored.head.relocations; ++i)
        if (const x86_64::Relocation& relocation = loaded.stored.relocations[i];
            relocation.kind == x86_64::RelocationKind::address)
            add(block.pc + static_cast<std::uint64_t>(std::int64_t{relocation.value}), 0);
}

/// Finds the record of a successor that the cache does not have, and prefetches it and the code that it is compared
/// with.
void Store::look_up(Cache& cache, const StoredMapping& mapping, const ExecutableRange& range,
                    Wanted::Successor& successor) {
    const std::uint64_t pc = successor.target;
    successor.block = cache.find(pc);
    if (successor.block != nullptr || pc - range.start >= range.end - range.start) return;
    successor.record = mapping.file.record_of(static_cast<std::uint32_t>(mapping.place_of(pc)));
    if (successor.record == 0) return;
    mapping.file.prefetch(successor.record);
    __builtin_prefetch(at_address<const void>(pc));
}

// With the block come those that follow it: each saves a way through the engine.
Block* Store::load(Cache& cache, x86_64::TupleTable& tuples, const x86_64::Counting& counting,
                   const ExecutableRange& range, std::uint64_t pc, Entries entries, bool may_open) {
    constexpr std::size_t kAhead = Latest::kMost - 1;  // blocks between the lookup of a record and its use
    follow_flavour(cache, counting);
    StoredMapping& mapping = mappings_[range.stored];
    if (!mapping.opened && may_open) open(mapping);
    const std::uint32_t record = mapping.file.record_of(static_cast<std::uint32_t>(mapping.place_of(pc)));
    Loaded loaded;
    if (record == 0 || !load_one(cache, tuples, range, pc, record, entries, loaded)) return nullptr;
    Block* const first = loaded.block;
    Latest latest;
    latest.add(*first);
    Wanted wanted;
    add_successors(cache, loaded, wanted);
    for (std::size_t i = 0, looked_up = 0; i < wanted.count; ++i) {
        for (; looked_up < wanted.count && looked_up <= i + kAhead; ++looked_up)
            look_up(cache, mapping, range, wanted.successor[looked_up]);
        const Wanted::Successor successor = wanted.successor[i];
        Block* next = successor.block;
        // It may have been loaded since it was looked up.
        if (next == nullptr && successor.record != 0) next = latest.find(successor.target);
        if (next == nullptr && successor.record != 0 &&
            load_one(cache, tuples, range, successor.target, successor.record, {}, loaded)) {
            next = loaded.block;
            latest.add(*next);
            add_successors(cache, loaded, wanted);
        }
        if (next != nullptr && successor.exit != 0) cache.link(successor.exit, *next);
    }
    return first;
}

void Store::note(Cache& cache, const x86_64::Counting& counting, const ExecutableRange& range, const Block& block) {
    follow_flavour(cache, counting);
    if (!relocations_.complete() || block.code != nullptr) return;
    for (std::size_t i = 0; i < relocations_.read.count; ++i)
        if (!is_in_mapping(cache, range, relocations_.read.range[i].start, relocations_.read.range[i].end)) return;
    if (new_blocks_.add(range.stored, cache.id_of(block), block, relocations_)) ++mappings_[range.stored].new_blocks;
}

bool Store::drop_faulted(std::uint64_t address) {
    for (std::uint32_t i = 1; i <= mapping_count_; ++i) {
        StoredMapping& mapping = mappings_[i];
        if (address - address_of(mapping.file_bytes.data()) >= page_up(mapping.file_bytes.size())) continue;
        mapping.file = {};
        return true;
    }
    return false;
}

std::size_t Store::touched_pages() const {
    // The kernel maps pages of a file in groups of sixteen.
    constexpr std::size_t kGroup = 16 * kPageBytes;
    std::size_t pages = new_blocks_.touched_pages() + mapping_count_;
    for (std::uint32_t i = 1; i <= mapping_count_; ++i) pages += mappings_[i].file_bytes.size() / kGroup;
    return pages;
}

}  // namespace anyperf::engine
