// fuzz_stored_code.cpp: any bytes as a file of stored translations give blocks that lie inside of the cache, or none.
// The checksums are made right first, since no fuzzer finds them.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/cache/cache.h"
#include "engine/store/load_block.h"
#include "engine/store/stored_file.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"

namespace {

using namespace anyperf;
using namespace anyperf::engine;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A code cache that is emptied for each input.
struct World {
    Cache cache;
    x86_64::Routines routines;
    x86_64::Thread* threads = nullptr;
    std::unique_ptr<x86_64::TupleTable> tuples = std::make_unique<x86_64::TupleTable>();

    World() {
        require(cache.reserve());
        require(emit_routines(*x86_64::prepared_arena(cache, address_of(this)), routines));
        cache.set_lookup_miss(routines.exit[static_cast<std::size_t>(x86_64::ExitReason::lookup_miss)]);
    }
    void clear() {
        cache.remove_all();
        cache.free_all();
        *tuples = {};
        tuples->begin(&threads, 0);
    }
};

/// The checksums of the head, and of what the table of blocks leads to.
void mend(std::vector<std::uint8_t>& bytes) {
    run::StoredCodeHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.magic = run::kStoredCodeMagic;
    header.file_bytes = static_cast<std::uint32_t>(bytes.size());
    header.checksum = checksum_of_head(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    for (std::uint64_t i = 0; i < header.blocks; ++i) {
        const std::uint64_t at = header.blocks_at + i * sizeof(StoredPlace);
        StoredPlace place;
        StoredBlockHead head;
        if (at + sizeof place > bytes.size()) return;
        std::memcpy(&place, bytes.data() + at, sizeof place);
        if (place.at > bytes.size() || bytes.size() - place.at < sizeof head) continue;
        std::memcpy(&head, bytes.data() + place.at, sizeof head);
        if (head.bytes < sizeof head || head.bytes > bytes.size() - place.at) continue;
        head.checksum = checksum_of_record(bytes.data() + place.at, head.bytes);
        std::memcpy(bytes.data() + place.at, &head, sizeof head);
    }
}

void use(World& world, const StoredBlock& stored) {
    constexpr std::uint64_t kPc = 0x10000;
    constexpr x86_64::ClassSet kClasses = 1;
    const std::uint64_t pc = address_of(&world) + kPc + stored.head.place % 4096;
    Arena& arena = *x86_64::prepared_arena(world.cache, pc);
    Block* const block = load_block(world.cache, arena, *world.tuples, stored, pc, kClasses,
                                    {.indirect = stored.indirect(), .step = stored.head.place % 2 != 0});
    if (block == nullptr) return;
    require(arena.holds(address_of(block->host)) && arena.holds(address_of(block->host) + block->host_bytes));
    require(world.cache.add(*block));
    for (std::uint32_t host = 0; host < block->host_bytes; ++host)
        require(x86_64::locate(*block, address_of(block->host) + host).index <= block->instructions);
    for (ExitId id = block->first_exit; id < block->first_exit + block->exits; ++id) world.cache.link(id, *block);
    world.cache.remove(*block);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static World world;
    if (size < sizeof(run::StoredCodeHeader)) return 0;
    std::vector<std::uint8_t> bytes(data, data + size);
    mend(bytes);
    run::StoredCodeHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const StoredFile file{bytes, header.key};
    if (!file.usable()) return 0;
    world.clear();
    StoredBlock block;
    for (std::uint32_t i = 0; i < file.header().blocks; ++i) {
        StoredPlace place;
        std::memcpy(&place, bytes.data() + file.header().blocks_at + std::size_t{i} * sizeof place, sizeof place);
        if (file.read(place.at, place.place, block)) use(world, block);
    }
    file.for_each_record([&](const std::uint8_t*, const StoredBlock& record) { use(world, record); });
    for (std::uint32_t place = 0; place < 64; ++place) file.find(place, block);
    return 0;
}
