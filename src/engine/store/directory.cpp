#include "engine/store/directory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/freestanding/pages.h"
#include "engine/store/checksum.h"

namespace anyperf::engine {

namespace {

constexpr mode_t kOthers = 077;  // all rights of group and others
constexpr mode_t kOthersWrite = 022;

std::uint64_t as_argument(long fd) {
    return static_cast<std::uint64_t>(fd);
}

void close(long fd) {
    kernel_call(__NR_close, as_argument(fd));
}

bool belongs_to_this_user(const struct stat& status) {
    return status.st_uid == static_cast<uid_t>(kernel_call(__NR_geteuid));
}

/// A process that has another user's rights than its own user's reads and writes neither user's store.
bool has_one_identity() {
    return kernel_call(__NR_getuid) == kernel_call(__NR_geteuid) &&
           kernel_call(__NR_getgid) == kernel_call(__NR_getegid);
}

void put_hex(char* at, std::uint64_t value) {
    for (unsigned i = 0; i < 16; ++i) at[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
}

/// Whether the process may make a file of this size: a write beyond the limit would raise SIGXFSZ.
bool may_write(std::size_t bytes) {
    struct {
        std::uint64_t soft, hard;
    } limit{};
    return !is_error(kernel_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, address_of(&limit))) && bytes <= limit.soft;
}

/// Sets the file's time of writing, by which the broker removes those that nobody uses, at most once a day.
void note_use(long fd, const struct stat& status) {
    constexpr std::int64_t kDay = std::int64_t{24} * 60 * 60;
    timespec now{};
    kernel_call(__NR_clock_gettime, CLOCK_REALTIME_COARSE, address_of(&now));
    if (now.tv_sec - status.st_mtim.tv_sec > kDay) kernel_call(__NR_utimensat, as_argument(fd), 0, 0, 0);
}

/// Maps the file over pages of an area.
bool map_file(long fd, void* place, std::uint64_t bytes) {
    const long got = map_pages(address_of(place), bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, static_cast<int>(fd));
    leave_out_of_dumps(address_of(place), page_up(bytes));
    return !is_error(got);
}

}  // namespace

StoredName::StoredName(const run::StoredCodeKey& key) : text{} {
    put_hex(text, checksum(&key, sizeof key));
    __builtin_memcpy(text + 16, run::kStoredCodeSuffix, sizeof run::kStoredCodeSuffix);
}

StoreDirectory::StoreDirectory(const char* path) {
    if (path[0] == 0 || !has_one_identity()) return;
    const long fd = kernel_call(__NR_open, address_of(path), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (is_error(fd)) return;
    struct stat status{};
    if (!is_error(kernel_call(__NR_fstat, as_argument(fd), address_of(&status))) && S_ISDIR(status.st_mode) &&
        belongs_to_this_user(status) && (status.st_mode & kOthers) == 0)
        fd_ = fd;
    else
        close(fd);
}

StoreDirectory::~StoreDirectory() {
    if (fd_ >= 0) close(fd_);
}

std::span<const std::uint8_t> StoreDirectory::map(const StoredName& name, OwnArea& area) const {
    const long fd = kernel_call(__NR_openat, as_argument(fd_), address_of(name.text),
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (is_error(fd)) return {};
    struct stat status{};
    const bool good = !is_error(kernel_call(__NR_fstat, as_argument(fd), address_of(&status))) &&
                      S_ISREG(status.st_mode) && belongs_to_this_user(status) && (status.st_mode & kOthersWrite) == 0;
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    std::span<const std::uint8_t> mapped;
    if (good && bytes >= sizeof(run::StoredCodeHeader) && bytes <= run::kMostStoredCodeBytes) {
        void* const place = area.take(bytes);
        if (place != nullptr && map_file(fd, place, bytes)) mapped = {static_cast<const std::uint8_t*>(place), bytes};
    }
    if (!mapped.empty()) note_use(fd, status);
    close(fd);
    return mapped;
}

NewStoredFile::NewStoredFile(const StoreDirectory& directory) : directory_(directory) {
    std::uint64_t random = 0;
    kernel_call(__NR_getrandom, address_of(&random), sizeof random, 0);
    put_hex(name_, random);
    __builtin_memcpy(name_ + 16, ".new", 5);
    fd_ = kernel_call(__NR_openat, as_argument(directory.fd_), address_of(name_),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    good_ = !is_error(fd_);
}

NewStoredFile::~NewStoredFile() {
    if (is_error(fd_)) return;
    close(fd_);
    if (name_[0] != 0) kernel_call(__NR_unlinkat, as_argument(directory_.fd_), address_of(name_), 0);
}

bool NewStoredFile::may_have(std::size_t bytes) const {
    return good_ && may_write(bytes);
}

void NewStoredFile::write_at(std::uint64_t place, std::span<const std::uint8_t> bytes) {
    while (good_ && !bytes.empty()) {
        const long written =
            kernel_call(__NR_pwrite64, as_argument(fd_), address_of(bytes.data()), bytes.size(), place);
        good_ = written > 0;
        if (!good_) return;
        place += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

bool NewStoredFile::complete(const StoredName& name) {
    if (!good_ || is_error(kernel_call(__NR_renameat, as_argument(directory_.fd_), address_of(name_),
                                       as_argument(directory_.fd_), address_of(name.text))))
        return false;
    name_[0] = 0;
    return true;
}

// Pages of the area again, so that nobody else's mapping comes there.
void unmap_stored(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return;
    map_pages(address_of(bytes.data()), bytes.size(), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    leave_out_of_dumps(address_of(bytes.data()), page_up(bytes.size()));
}

}  // namespace anyperf::engine
