// new_file.h: a file of stored translations while it is made. Records are written through a buffer: a process that
// stores much would otherwise touch as much new memory. What comes before them in the file is kept, and written last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/freestanding/own_area.h"
#include "engine/store/directory.h"
#include "engine/store/stored_file.h"

namespace anyperf::engine {

class NewFile {
  public:
    static constexpr std::uint32_t kNoPage = ~0u;

    struct Sizes {
        std::uint32_t blocks = 0;
        std::uint32_t pages = 0;
        std::size_t records = 0;  ///< bytes of all
    };

    /// Takes memory from the area. `most`: not less than there will be. `code_pages`: pages of the mapping.
    bool begin(const Sizes& most, std::size_t code_pages, OwnArea& area, NewStoredFile& file) {
        file_ = &file;
        slots_ = 64;
        while (slots_ < most.blocks * 2) slots_ *= 2;
        slots_at_ = sizeof(run::StoredCodeHeader);
        pages_at_ = slots_at_ + slots_ * sizeof(StoredSlot);
        end_ = front_ = pages_at_ + most.pages * sizeof(StoredPage);
        const std::size_t room = front_ + most.records;
        if (room > run::kMostStoredCodeBytes || !file.may_have(room)) return false;
        scratch_ = front_ + kBuffer + code_pages * sizeof(std::uint32_t);
        memory_ = static_cast<std::uint8_t*>(area.take(scratch_));
        if (memory_ == nullptr) return false;
        index_ = reinterpret_cast<std::uint32_t*>(memory_ + front_ + kBuffer);
        for (std::size_t i = 0; i < code_pages; ++i) index_[i] = kNoPage;
        return true;
    }
    void end() { discard_pages(memory_, scratch_); }

    std::uint32_t add_page(const StoredPage& page) {
        __builtin_memcpy(memory_ + pages_at_ + pages_ * sizeof page, &page, sizeof page);
        return pages_++;
    }
    /// Of a page of the mapping, by its number there, its index in the file; kNoPage: it has none yet.
    std::uint32_t& index_of(std::size_t page) { return index_[page]; }

    /// Room for a record, which is then in the table. It must be filled before the next call.
    std::uint8_t* add_record(std::uint32_t place, std::size_t bytes) {
        std::uint32_t index = StoredFile::first_slot(place, slots_);
        auto* const slots = reinterpret_cast<StoredSlot*>(memory_ + slots_at_);
        while (slots[index].place != 0) index = (index + 1) & (slots_ - 1);
        slots[index] = {place + 1, static_cast<std::uint32_t>(end_)};
        ++blocks_;
        if (buffered_ + bytes > kBuffer) flush();
        std::uint8_t* const record = memory_ + front_ + buffered_;
        buffered_ += bytes;
        end_ += bytes;
        return record;
    }

    /// Writes what is not written yet.
    void finish(const run::StoredCodeKey& key, const char (&path)[256]) {
        flush();
        run::StoredCodeHeader header{};
        header.magic = run::kStoredCodeMagic;
        header.key = key;
        header.file_bytes = static_cast<std::uint32_t>(end_);
        header.slots = slots_;
        header.blocks = blocks_;
        header.pages = pages_;
        header.slots_at = static_cast<std::uint32_t>(slots_at_);
        header.pages_at = static_cast<std::uint32_t>(pages_at_);
        __builtin_memcpy(header.path, path, sizeof header.path);
        header.checksum = checksum_of_head(header);
        __builtin_memcpy(memory_, &header, sizeof header);
        file_->write_at(0, {memory_, front_});
    }

  private:
    /// More than the largest record has: hot and cold code of 64 KiB each.
    static constexpr std::size_t kBuffer = std::size_t{256} << 10;

    void flush() {
        file_->write_at(end_ - buffered_, {memory_ + front_, buffered_});
        buffered_ = 0;
    }

    NewStoredFile* file_ = nullptr;
    std::uint8_t* memory_ = nullptr;
    std::uint32_t* index_ = nullptr;
    std::size_t slots_at_ = 0;
    std::size_t pages_at_ = 0;
    std::size_t end_ = 0;
    std::size_t front_ = 0;     ///< bytes before the records
    std::size_t buffered_ = 0;  ///< bytes of records that are not written yet
    std::size_t scratch_ = 0;
    std::uint32_t slots_ = 0;
    std::uint32_t blocks_ = 0;
    std::uint32_t pages_ = 0;
};

}  // namespace anyperf::engine
