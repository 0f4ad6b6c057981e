// store_test.cpp: stored translations: a block that is loaded is, byte by byte, the one that would have been
// translated; damage is noticed; the directory is used only if nobody else can write there. No translated code runs
// here.
#include "engine/store/store.h"
#include "engine/cache/packed_marks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "engine/store/checksum.h"
#include "engine/store/directory.h"
#include "engine/store/load_block.h"
#include "engine/store/new_blocks.h"
#include "engine/store/new_file.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine {
namespace {

using x86_64::Class;
using Bytes = std::vector<std::uint8_t>;

/// The code of this process's C library.
Bytes library_code() {
    Bytes code;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            if (std::string_view{info->dlpi_name}.find("libc.so") == std::string_view::npos) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& segment = info->dlpi_phdr[i];
                if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
                const auto* const start = at_address<const std::uint8_t>(info->dlpi_addr + segment.p_vaddr);
                static_cast<Bytes*>(out)->assign(start, start + segment.p_filesz);
            }
            return 1;
        },
        &code);
    return code;
}

/// Address space for code that has free space around it when its first block is translated, whatever the tests before
/// have mapped: a cache is never given back. In an arena far from the code its addresses do not fit into 32 bits, and
/// such blocks can't be stored.
class Neighbourhood {
  public:
    Neighbourhood() {
        void* const got = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got != MAP_FAILED) start_ = address_of(got);
    }
    Neighbourhood(const Neighbourhood&) = delete;
    Neighbourhood& operator=(const Neighbourhood&) = delete;

    std::uint64_t middle() const { return start_ + kBytes / 2; }
    /// Frees all but [from, to).
    void free_around(std::uint64_t from, std::uint64_t to) const {
        ::munmap(at_address<void>(start_), from - start_);
        ::munmap(at_address<void>(to), start_ + kBytes - to);
    }

  private:
    static constexpr std::size_t kBytes = std::size_t{2} << 30;
    std::uint64_t start_ = 0;
};

/// A copy of the code at this address.
class CodeCopy {
  public:
    CodeCopy(const Bytes& code, std::uint64_t place) : bytes_(page_up(code.size())) {
        memory_ = ::mmap(at_address<void>(place), bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        std::copy(code.begin(), code.end(), static_cast<std::uint8_t*>(memory_));
    }
    ~CodeCopy() { ::munmap(memory_, bytes_); }
    CodeCopy(const CodeCopy&) = delete;
    CodeCopy& operator=(const CodeCopy&) = delete;

    std::uint64_t start() const { return address_of(memory_); }
    std::uint64_t end() const { return start() + bytes_; }

  private:
    std::size_t bytes_;
    void* memory_;
};

/// What a block is, without where its records are.
struct Snapshot {
    Bytes hot;
    Bytes cold;
    Bytes marks;
    std::vector<std::uint64_t> exits;
    std::vector<std::uint64_t> fields;

    bool operator==(const Snapshot&) const = default;
};

/// A cache that is emptied after each block, so that each is made at the same place, with the same numbers.
class StoredBlocks : public testing::TestWithParam<int> {
  protected:
    static constexpr int kWithHeat = 4;  ///< blocks count their executions where they can

    void SetUp() override {
        ASSERT_TRUE(cache_.reserve());
        ASSERT_TRUE(area_.reserve(std::uint64_t{64} << 20));
        ASSERT_TRUE(noted_.reserve(area_));
        neighbourhood_.free_around(code_.start(), other_.end());
        Arena* const first = x86_64::prepared_arena(cache_, code_.start());
        ASSERT_NE(first, nullptr);
        ASSERT_TRUE(x86_64::emit_routines(*first, routines_));
        cache_.set_lookup_miss(routines_.exit[static_cast<std::size_t>(x86_64::ExitReason::lookup_miss)]);
        for (const CodeCopy* copy : {&code_, &other_})
            cache_.executable.add({copy->start(), copy->end(), false, false});
        switch (GetParam()) {
            default: break;
            case 1: counting_.open = x86_64::bit(Class::instructions); break;
            case 2: counting_.open = (1u << x86_64::kClassCount) - 1; break;
            case 3:
                counting_.open = x86_64::bit(Class::instructions) | x86_64::bit(Class::loads),
                counting_.budgeted = true;
                break;
            case kWithHeat: cache_.heat = 5;
        }
    }

    void begin_block() {
        cache_.remove_all();
        cache_.free_all();
        tuples_ = std::make_unique<x86_64::TupleTable>();
        tuples_->begin(&threads_, 0);
    }

    Block* translate(std::uint64_t pc, std::uint64_t end, bool indirect, x86_64::Relocations* relocations) {
        begin_block();
        Arena* const arena = x86_64::prepared_arena(cache_, pc);
        x86_64::Translation translation{cache_, *arena, counting_, *tuples_, *instrumentation_, nullptr, relocations};
        translation.count_executions();
        return translation.run({pc, at_address<const std::uint8_t>(pc), end - pc}, 0, indirect);
    }

    /// The record of the block, translated in the first copy of the code. Empty: it can't be stored, or there is no
    /// instruction.
    Bytes stored(std::uint64_t offset, bool indirect) {
        const Block* const block = translate(code_.start() + offset, code_.end(), indirect, &relocations_);
        guest_bytes_ = block != nullptr ? block->guest_bytes : 0;
        if (block == nullptr || !relocations_.complete()) return {};
        for (std::size_t i = 0; i < relocations_.read.count; ++i)
            if (relocations_.read.range[i].start < code_.start() || relocations_.read.range[i].end > code_.end())
                return {};
        noted_.clear();
        EXPECT_TRUE(noted_.add(1, cache_.id_of(*block), *block, relocations_));
        const StoredBlockHead head = noted_.head_of(noted_[1], *block, static_cast<std::uint32_t>(offset), cache_);
        EXPECT_LE(head.bytes, NewBlocks::most_bytes(noted_[1], *block));
        Bytes record(head.bytes);
        noted_.write(noted_[1], *block, head, cache_, record.data());
        return record;
    }

    Snapshot snapshot(const Block& block, std::size_t cold_bytes) {
        Snapshot shot;
        shot.hot.assign(block.host, block.host + block.host_bytes);
        const std::uint8_t* const cold = cache_.arenas[0].cold().data() - cold_bytes;
        shot.cold.assign(cold, cold + cold_bytes);
        const Marks unpacked{block};
        const auto* const marks = reinterpret_cast<const std::uint8_t*>(&unpacked[0]);
        shot.marks.assign(marks, marks + (block.instructions + 1u) * sizeof(Mark));
        for (ExitId id = block.first_exit; id < block.first_exit + block.exits; ++id) {
            const Exit& exit = cache_.exits[id];
            shot.exits.insert(shot.exits.end(), {exit.target(), exit.control_number, exit.from, exit.to, exit.operand,
                                                 exit.length, static_cast<std::uint64_t>(exit.stub)});
        }
        shot.fields = {block.pc,
                       address_of(block.host),
                       block.host_bytes,
                       block.guest_bytes,
                       block.instructions,
                       block.exits,
                       block.first_exit,
                       block.counted,
                       block.lane + 0u,
                       block.budgeted + 0u,
                       block.counts_executions + 0u,
                       block.indirect_entry};
        return shot;
    }

    Bytes library_ = library_code();
    Neighbourhood neighbourhood_;
    CodeCopy code_{library_, neighbourhood_.middle()};
    CodeCopy other_{library_, code_.end()};
    Cache cache_;
    OwnArea area_;
    NewBlocks noted_;
    x86_64::Routines routines_;
    x86_64::Counting counting_;
    x86_64::Thread* threads_ = nullptr;
    std::unique_ptr<x86_64::TupleTable> tuples_;
    std::unique_ptr<ProcessInstrumentation> instrumentation_ = std::make_unique<ProcessInstrumentation>();
    x86_64::Relocations relocations_;
    std::size_t guest_bytes_ = 0;
};

TEST_P(StoredBlocks, AreWhatTheTranslatorMakesElsewhere) {
    ASSERT_GT(library_.size(), 100'000u);
    std::size_t loaded = 0;
    std::size_t blocks = 0;
    std::size_t counting_executions = 0;
    constexpr std::size_t kStep = 250;
    for (std::uint64_t offset = 0; offset < library_.size(); offset += guest_bytes_ + kStep, ++blocks) {
        const bool indirect = blocks % 3 == 0;
        const Bytes record = stored(offset, indirect);
        if (record.empty()) continue;
        StoredBlock parsed;
        ASSERT_TRUE(parse_stored_block(record, parsed));
        const std::uint64_t pc = other_.start() + offset;
        const Block* const made = translate(pc, other_.end(), indirect, nullptr);
        const Snapshot expected = snapshot(*made, parsed.head.cold_bytes);
        begin_block();
        const Block* const block = load_block(cache_, *x86_64::prepared_arena(cache_, pc), *tuples_, parsed, pc,
                                              counting_.open, {.indirect = indirect});
        ASSERT_NE(block, nullptr) << offset;
        ASSERT_EQ(snapshot(*block, parsed.head.cold_bytes), expected) << offset;
        ++loaded;
        counting_executions += block->counts_executions;
    }
    EXPECT_EQ(counting_executions > blocks / 10, GetParam() == kWithHeat) << counting_executions;
    EXPECT_GT(loaded, blocks * 9 / 10);
}

TEST_P(StoredBlocks, DamageOfARecordIsNoticed) {
    Bytes record;
    for (std::uint64_t offset = 0x1000; record.empty(); offset += guest_bytes_ + 1) record = stored(offset, false);
    StoredBlock parsed;
    ASSERT_TRUE(parse_stored_block(record, parsed));
    for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
        record[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        EXPECT_FALSE(parse_stored_block(record, parsed)) << bit;
        record[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    }
    for (std::size_t size = 0; size < record.size(); ++size)
        EXPECT_FALSE(parse_stored_block(std::span{record}.first(size), parsed));
}

TEST_P(StoredBlocks, HaveAChecksumOfAllCodeThatTheyWereMadeFrom) {
    std::size_t others = 0;  // ranges that do not begin with the block
    constexpr std::size_t kStep = 5000;
    for (std::uint64_t offset = 0; offset < library_.size(); offset += guest_bytes_ + kStep) {
        const Bytes record = stored(offset, false);
        if (record.empty()) continue;
        StoredBlock parsed;
        ASSERT_TRUE(parse_stored_block(record, parsed));
        const std::uint64_t pc = other_.start() + offset;
        const auto sum = [&] { return checksum_of_code(pc, parsed.ranges, parsed.head.ranges); };
        ASSERT_EQ(sum(), parsed.head.code) << offset;
        const auto is_noticed = [&](std::uint64_t address) {
            auto& byte = *at_address<std::uint8_t>(address);
            byte ^= 1;
            const bool noticed = sum() != parsed.head.code;
            byte ^= 1;
            return noticed;
        };
        for (std::size_t i = 0; i < parsed.head.guest_bytes; ++i) ASSERT_TRUE(is_noticed(pc + i)) << offset;
        for (std::size_t i = 0; i < parsed.head.ranges; ++i) {
            const StoredRange range = parsed.ranges[i];
            const std::uint64_t start = pc + static_cast<std::uint64_t>(std::int64_t{range.from});
            others += range.from != 0;
            for (std::size_t byte = 0; byte < range.bytes; ++byte) ASSERT_TRUE(is_noticed(start + byte)) << offset;
        }
    }
    EXPECT_EQ(others > 10, counting_.open != 0) << others;
}

INSTANTIATE_TEST_SUITE_P(Flavours, StoredBlocks, testing::Range(0, 5));

class StoreFiles : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/anyperf-store-XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        path_ = name;
        ASSERT_TRUE(area_.reserve(std::uint64_t{16} << 20));
    }
    void TearDown() override { std::filesystem::remove_all(path_); }

    bool write(const StoreDirectory& directory, const Bytes& bytes) {
        NewStoredFile file{directory};
        file.write_at(0, bytes);
        return file.complete(name_);
    }

    OwnArea area_;
    std::string path_;
    run::StoredCodeKey key_{};
    const StoredName name_{key_};
    const Bytes content_ = Bytes(1000, 7);
};

TEST_F(StoreFiles, AreWrittenAndMapped) {
    const StoreDirectory directory{path_.c_str()};
    ASSERT_TRUE(directory.usable());
    EXPECT_TRUE(directory.map(name_, area_).empty());
    ASSERT_TRUE(write(directory, content_));
    const auto bytes = directory.map(name_, area_);
    EXPECT_TRUE(std::ranges::equal(bytes, content_));
    unmap_stored(bytes);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{path_}, {}), 1);
}

TEST_F(StoreFiles, AreNotUsedWhereOthersHaveRights) {
    ::chmod(path_.c_str(), 0710);
    EXPECT_FALSE(StoreDirectory{path_.c_str()}.usable());
    ::chmod(path_.c_str(), 0700);
    const StoreDirectory directory{path_.c_str()};
    ASSERT_TRUE(write(directory, content_));
    ::chmod((path_ + "/" + name_.text).c_str(), 0620);
    EXPECT_TRUE(directory.map(name_, area_).empty());
}

TEST_F(StoreFiles, AreNotReachedByLinks) {
    const std::string link = path_ + "-link";
    std::filesystem::create_symlink(path_, link);
    EXPECT_FALSE(StoreDirectory{link.c_str()}.usable());
    std::filesystem::remove(link);
    std::ofstream{path_ + "/other"} << std::string(1000, 'x');
    std::filesystem::create_symlink(path_ + "/other", path_ + "/" + name_.text);
    EXPECT_TRUE(StoreDirectory{path_.c_str()}.map(name_, area_).empty());
}

TEST_F(StoreFiles, AreNotUsedIfTheyAreNoRegularFiles) {
    ::mkfifo((path_ + "/" + name_.text).c_str(), 0600);
    EXPECT_TRUE(StoreDirectory{path_.c_str()}.map(name_, area_).empty());
    EXPECT_FALSE(StoreDirectory{(path_ + "/" + name_.text).c_str()}.usable());
}

TEST_F(StoreFiles, ThatAreNotCompletedLeaveNothing) {
    const StoreDirectory directory{path_.c_str()};
    ASSERT_TRUE(write(directory, content_));
    {
        NewStoredFile file{directory};
        file.write_at(5000, content_);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator{path_}, {}), 2);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{path_}, {}), 1);
    EXPECT_EQ(directory.map(name_, area_).size(), content_.size());
}

TEST_F(StoreFiles, FindTheirBlocksAndRefuseOtherKeys) {
    run::StoredCodeKey key{};
    key.inode = 7;
    StoredBlockHead head;
    head.hot_bytes = 8;
    head.ranges = 1;  // of nothing, as the block is
    const StoreDirectory directory{path_.c_str()};
    NewStoredFile written{directory};
    NewFile file;
    constexpr std::uint32_t kBlocks = 10'000;  // more than the buffer has room for
    constexpr std::uint32_t kFirst = 0x5000;
    ASSERT_TRUE(file.begin({kBlocks, std::size_t{kBlocks} * 128, kFirst >> 12, 4}, area_, written));
    // 7919 is a prime, so the blocks are added in an order of their own, and each once.
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
        head.place = kFirst + i * 7919 % kBlocks;
        head.bytes = static_cast<std::uint16_t>(stored_bytes(head));
        std::uint8_t* const record = file.add_record(head.place, head.bytes);
        __builtin_memcpy(record, &head, sizeof head);
        const std::uint32_t checksum = checksum_of_record(record, head.bytes);
        __builtin_memcpy(record, &checksum, sizeof checksum);
    }
    file.finish(key, {});
    file.end();
    ASSERT_TRUE(written.complete(name_));
    const auto bytes = directory.map(name_, area_);
    const StoredFile stored{bytes, key};
    ASSERT_TRUE(stored.usable());
    StoredBlock block;
    for (std::uint32_t i = 0; i < kBlocks; ++i) EXPECT_TRUE(stored.find(kFirst + i, block)) << i;
    for (const std::uint32_t none : {0u, kFirst - 1, kFirst + kBlocks, ~0u})
        EXPECT_FALSE(stored.find(none, block)) << none;
    std::uint32_t visited = 0;
    stored.for_each_record([&](const std::uint8_t*, const StoredBlock& record) {
        EXPECT_EQ(record.head.place, kFirst + visited++ * 7919 % kBlocks);
    });
    EXPECT_EQ(visited, kBlocks);
    key.inode = 8;
    EXPECT_FALSE((StoredFile{bytes, key}).usable());
}

}  // namespace
}  // namespace anyperf::engine
