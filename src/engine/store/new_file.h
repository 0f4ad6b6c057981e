// new_file.h: a file of stored translations while it is made. Records are written through a buffer: a process that
// stores much would otherwise touch as much new memory. What comes before them in the file is kept, and written last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/freestanding/own_area.h"
#include "engine/store/directory.h"
#include "engine/store/stored_file.h"

namespace anyperf::engine {

class NewFile {
  public:
    struct Sizes {
        std::uint32_t blocks = 0;
        std::size_t records = 0;  ///< bytes of all
        // Pages of the translated file, in which blocks begin.
        std::uint32_t first_page = 0;
        std::uint32_t page_count = 0;
    };

    /// Takes memory from the area. `most`: not less than there will be.
    bool begin(const Sizes& most, OwnArea& area, NewStoredFile& file) {
        file_ = &file;
        first_page_ = most.first_page;
        page_count_ = most.page_count;
        starts_at_ = sizeof(run::StoredCodeHeader);
        blocks_at_ = starts_at_ + (page_count_ + std::size_t{2}) / 2 * sizeof(std::uint64_t);
        end_ = front_ = blocks_at_ + most.blocks * sizeof(StoredPlace);
        const std::size_t room = front_ + most.records;
        if (room > run::kMostStoredCodeBytes || !file.may_have(room)) return false;
        buffer_ = (std::min(kBuffer, most.records) + 7) & ~std::size_t{7};
        scratch_ = front_ + buffer_ + most.blocks * sizeof(StoredPlace);
        memory_ = static_cast<std::uint8_t*>(area.take(scratch_));
        if (memory_ == nullptr) return false;
        touch_pages(memory_, scratch_);
        added_ = reinterpret_cast<StoredPlace*>(memory_ + front_ + buffer_);
        return true;
    }
    void end() { discard_pages(memory_, scratch_); }

    /// Room for a record, which is then in the table. It must be filled before the next call.
    std::uint8_t* add_record(std::uint32_t place, std::size_t bytes) {
        added_[blocks_++] = {place, static_cast<std::uint32_t>(end_)};
        ++starts()[page_of_place(place) - first_page_];
        if (buffered_ + bytes > buffer_) flush();
        std::uint8_t* const record = memory_ + front_ + buffered_;
        buffered_ += bytes;
        end_ += bytes;
        return record;
    }

    /// Writes what is not written yet.
    void finish(const run::StoredCodeKey& key, const char (&path)[256]) {
        flush();
        sort();
        run::StoredCodeHeader header{};
        header.magic = run::kStoredCodeMagic;
        header.key = key;
        header.file_bytes = static_cast<std::uint32_t>(end_);
        header.blocks = blocks_;
        header.first_page = first_page_;
        header.page_count = page_count_;
        header.starts_at = static_cast<std::uint32_t>(starts_at_);
        header.blocks_at = static_cast<std::uint32_t>(blocks_at_);
        header.records_at = static_cast<std::uint32_t>(front_);
        __builtin_memcpy(header.path, path, sizeof header.path);
        header.checksum = checksum_of_head(header);
        __builtin_memcpy(memory_, &header, sizeof header);
        file_->write_at(0, {memory_, front_});
    }

  private:
    /// More than the largest record has.
    static constexpr std::size_t kBuffer = std::size_t{128} << 10;

    std::uint32_t* starts() { return reinterpret_cast<std::uint32_t*>(memory_ + starts_at_); }

    void flush() {
        file_->write_at(end_ - buffered_, {memory_ + front_, buffered_});
        buffered_ = 0;
    }

    /// Makes the table of blocks from those that were added: each goes to its page, of which `starts` has the number of
    /// blocks until now, and there to its place among them.
    void sort() {
        std::uint32_t* const start = starts();
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i <= page_count_; ++i) sum += std::exchange(start[i], sum);
        auto* const table = reinterpret_cast<StoredPlace*>(memory_ + blocks_at_);
        for (std::uint32_t i = 0; i < blocks_; ++i) {
            const std::uint32_t page = page_of_place(added_[i].place) - first_page_;
            std::uint32_t at = start[page]++;
            // What is before the page has lower places, or is still zero.
            for (; at > 0 && table[at - 1].place > added_[i].place; --at) table[at] = table[at - 1];
            table[at] = added_[i];
        }
        // Each start has become the end of its page, which is the start of the next one.
        for (std::uint32_t i = page_count_; i > 0; --i) start[i] = start[i - 1];
        start[0] = 0;
    }

    NewStoredFile* file_ = nullptr;
    std::uint8_t* memory_ = nullptr;
    StoredPlace* added_ = nullptr;  ///< in their order
    std::size_t starts_at_ = 0;
    std::size_t blocks_at_ = 0;
    std::size_t end_ = 0;
    std::size_t front_ = 0;     ///< bytes before the records
    std::size_t buffered_ = 0;  ///< bytes of records that are not written yet
    std::size_t buffer_ = 0;    ///< room for those
    std::size_t scratch_ = 0;
    std::uint32_t first_page_ = 0;
    std::uint32_t page_count_ = 0;
    std::uint32_t blocks_ = 0;
};

}  // namespace anyperf::engine
