// save.cpp: adds what a process has translated to the files of its mappings. A file is never changed: a new one has the
// records of the one that is there now, byte by byte, and the new ones, and replaces it. Two processes that do that at
// the same time each keep the old ones; one of them loses its new ones, until a process translates them again.
#include <algorithm>
#include <string_view>

#include "engine/freestanding/pages.h"
#include "engine/store/directory.h"
#include "engine/store/mapped_paths.h"
#include "engine/store/new_file.h"
#include "engine/store/store.h"

namespace anyperf::engine {

namespace {

/// Fewer new blocks than these, or than a part of what the file has, are not worth writing the file anew.
constexpr std::uint32_t kFewest = 16;
constexpr std::uint32_t kPart = 16;

bool has_near_exits(Cache& cache, const Block& block) {
    for (ExitId id = block.first_exit; id < block.first_exit + block.exits; ++id) {
        const auto distance = static_cast<std::int64_t>(cache.exits[id].target() - block.pc);
        if (distance != static_cast<std::int32_t>(distance)) return false;
    }
    return true;
}

}  // namespace

/// Whether the block is alive, can be stored, and is not in the file already.
bool Store::is_worth_storing(Cache& cache, const NewBlock& noted, const StoredFile& old) {
    const Block& block = cache.blocks[noted.block];
    StoredBlock same;
    return !block.dead && (block.counted == 0 || block.counted == flavour_.classes) && has_near_exits(cache, block) &&
           !old.find(static_cast<std::uint32_t>(mappings_[noted.mapping].place_of(block.pc)), same);
}

/// The blocks of the old file as they are and in their order.
void Store::copy_old(NewFile& file, const StoredFile& old) {
    if (!old.usable()) return;
    std::uint32_t copied = 0;
    old.for_each_record([&](const std::uint8_t* record, const StoredBlock& block) {
        const StoredBlockHead& head = block.head;
        if (page_of_place(head.place) - old.header().first_page >= old.header().page_count ||
            copied++ == old.header().blocks)
            return;
        __builtin_memcpy(file.add_record(head.place, head.bytes), record, head.bytes);
    });
}

/// Adds the block, unless its code has changed since it was translated.
void Store::store_block(NewFile& file, Cache& cache, const NewBlock& noted) {
    const StoredMapping& mapping = mappings_[noted.mapping];
    const Block& block = cache.blocks[noted.block];
    if (checksum_of_code(block.pc, new_blocks_.ranges(noted), noted.ranges) != noted.code) return;
    const auto place = static_cast<std::uint32_t>(mapping.place_of(block.pc));
    const StoredBlockHead head = new_blocks_.head_of(noted, block, place, cache);
    if (head.bytes == 0) return;
    new_blocks_.write(noted, block, head, cache, file.add_record(place, head.bytes));
}

/// The most that a new file has: what the old one has, and the new blocks that are worth storing. The others are taken
/// out of the list. `fresh`: receives their number.
NewFile::Sizes Store::sizes_of_new(Cache& cache, std::uint32_t number, const StoredFile& old, std::size_t old_bytes,
                                   std::uint32_t& fresh) {
    const StoredMapping& mapping = mappings_[number];
    NewFile::Sizes sizes{old.header().blocks, old_bytes, static_cast<std::uint32_t>(mapping.offset / kPageBytes),
                         static_cast<std::uint32_t>(mapping.bytes / kPageBytes)};
    if (old.header().page_count != 0) {
        const std::uint32_t first = std::min(sizes.first_page, old.header().first_page);
        const std::uint32_t end =
            std::max(sizes.first_page + sizes.page_count, old.header().first_page + old.header().page_count);
        sizes.first_page = first;
        sizes.page_count = end - first;
    }
    for (std::uint32_t i = 1; i <= new_blocks_.count(); ++i) {
        NewBlock& noted = new_blocks_[i];
        if (noted.mapping != number) continue;
        if (!is_worth_storing(cache, noted, old)) {
            noted.mapping = 0;
            continue;
        }
        ++fresh;
        sizes.records += NewBlocks::most_bytes(noted, cache.blocks[noted.block]);
    }
    sizes.blocks += fresh;
    return sizes;
}

/// Sets the paths of all mappings, by their addresses.
void Store::find_paths() {
    const auto visit = [](void* context, std::uint64_t start, std::string_view path) {
        auto& store = *static_cast<Store*>(context);
        for (std::uint32_t i = 1; i <= store.mapping_count_; ++i) {
            StoredMapping& mapping = store.mappings_[i];
            if (start < mapping.start || start >= mapping.start + mapping.bytes) continue;
            const std::size_t most = sizeof mapping.path - 1;
            const std::string_view end = path.substr(path.size() > most ? path.size() - most : 0);
            __builtin_memcpy(mapping.path, end.data(), end.size());
            mapping.path[end.size()] = 0;
        }
    };
    for_each_mapped_path(visit, this);
}

void Store::save(Cache& cache, std::uint32_t number) {
    StoredMapping& mapping = mappings_[number];
    const StoreDirectory directory{directory_};
    if (!directory.usable()) return;
    set_flavour(mapping.key);
    const StoredName name{mapping.key};
    const std::span<const std::uint8_t> old_bytes = directory.map(name, area_);
    const StoredFile old{old_bytes, mapping.key};
    std::uint32_t fresh = 0;
    const NewFile::Sizes sizes = sizes_of_new(cache, number, old, old_bytes.size(), fresh);
    if (fresh >= kFewest + old.header().blocks / kPart) {
        NewStoredFile written{directory};
        NewFile file;
        if (file.begin(sizes, area_, written)) {
            copy_old(file, old);
            for (std::uint32_t i = 1; i <= new_blocks_.count(); ++i)
                if (new_blocks_[i].mapping == number) store_block(file, cache, new_blocks_[i]);
            if (!old.usable() && mapping.path[0] == 0) find_paths();
            file.finish(mapping.key, old.usable() ? old.header().path : mapping.path);
            file.end();
            written.complete(name);
        }
    }
    unmap_stored(old_bytes);
}

bool Store::has_news(const Cache& cache) const {
    return on() && new_blocks_.count() >= kFewest && generation_ == cache.generation;
}

void Store::save(Cache& cache) {
    if (!has_news(cache)) return;
    for (std::uint32_t number = 1; number <= mapping_count_; ++number) {
        if (mappings_[number].new_blocks < kFewest) continue;
        save(cache, number);
        mappings_[number].new_blocks = 0;
    }
    forget_new_blocks();
}

void Store::forget_new_blocks() {
    new_blocks_.clear();
    for (std::uint32_t number = 1; number <= mapping_count_; ++number) mappings_[number].new_blocks = 0;
}

}  // namespace anyperf::engine
