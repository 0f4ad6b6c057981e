// run_memory.cpp: creates and maps the memory of a run.
//
// The facts are sealed so that only the mapping that the broker made before can write them: programs map them
// read-only, and cannot change that. Each run memory is shared by the programs of one user, and the broker trusts
// nothing in it. All have a fixed size. If a program could shrink one, the broker and other programs would get a SIGBUS
// for accesses beyond its new end.
#include "broker/run_memory.h"

#include "try.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace anyperf::broker {

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
    if (fd_ >= 0 && fd_ != other.fd_) ::close(fd_);
    fd_ = other.release();
    return *this;
}

OwnedFd::~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
}

int OwnedFd::release() {
    return std::exchange(fd_, -1);
}

template <std::size_t kBytes>
void RunMemory::Unmap<kBytes>::operator()(char* memory) const {
    ::munmap(memory, kBytes);
}
template struct RunMemory::Unmap<run::kFactsBytes>;
template struct RunMemory::Unmap<run::kRingsOffset>;
template struct RunMemory::Unmap<run::kMaximumThreadPages>;
template struct RunMemory::Unmap<run::kMaximumEvents>;

namespace {

/// The size of the run memory with all its parts, or RLIMIT_FSIZE if that is less. A memfd counts as a file for this
/// limit: the kernel sends SIGXFSZ to a process that makes one larger (getrlimit(2)).
std::uint64_t size_within_limits() {
    // The file is sparse, so its size costs no memory.
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return std::min<std::uint64_t>(run::exact::kOffset + run::exact::kBytes, limit.rlim_cur);
}

/// How to raise the limit that may have caused the error.
std::string fix_for(int error) {
    switch (error) {
        case EMFILE: return "see `ulimit -n`";
        case EFBIG: return "raise `ulimit -Hf`: the run's memory counts as a file";
        case ENOMEM: return "raise `ulimit -v`: a run reserves some gigabytes of address space, not of memory";
        default: return "";
    }
}

std::unexpected<Error> refused(const char* call) {
    const int error = errno;
    return std::unexpected(Error{"cannot create the memory of the run",
                                 std::string{call} + ": " + std::generic_category().message(error), fix_for(error)});
}

/// Makes a memfd of this size, which cannot be changed later.
Result<OwnedFd> make_file(const char* name, std::uint64_t bytes) {
    OwnedFd fd{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd) return refused("memfd_create");
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return refused("ftruncate");
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return refused("F_ADD_SEALS");
    return fd;
}

Result<char*> map_file(const OwnedFd& fd, std::size_t bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (memory == MAP_FAILED) return refused("mmap");
    return static_cast<char*>(memory);
}

Result<char*> map_zeros(std::size_t bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return refused("mmap");
    return static_cast<char*>(memory);
}

}  // namespace

Result<void> RunMemory::make_facts() {
    facts_fd_ = TRY(make_file(kFactsName, run::kFactsBytes));
    facts_.reset(TRY(map_file(facts_fd_, run::kFactsBytes)));
    // From here on no process can make a writable mapping of the facts, make a read-only mapping writable, or call
    // write(2) on them. Linux before 5.1 lacks this seal (EINVAL): there programs can write the facts.
    if (::fcntl(facts_fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0 && errno != EINVAL) return refused("F_ADD_SEALS");
    if (::fcntl(facts_fd(), F_ADD_SEALS, F_SEAL_SEAL) != 0) return refused("F_ADD_SEALS");
    return {};
}

Result<void> RunMemory::add_user(const UserIds& ids) {
    UserMemory user;
    user.ids = ids;
    user.fd = TRY(make_file(kRunMemoryName, file_bytes_));
    user.memory.reset(TRY(map_file(user.fd, run::kRingsOffset)));
    if (::fcntl(user.fd.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0) return refused("F_ADD_SEALS");
    const UserNumber number = users();
    users_.push_back(std::move(user));
    run::RunUse& used = use(number);
    used.first_page = used.thread_pages = first_page_of(number);
    used.end_page = first_page_of(number + 1);
    if (number != 0)
        std::fill_n(user_of_page_.get() + used.first_page, used.end_page - used.first_page, static_cast<char>(number));
    return {};
}

Result<RunMemory> RunMemory::make() {
    RunMemory made;
    made.file_bytes_ = size_within_limits();
    if (made.file_bytes_ < run::kRingsOffset) {
        errno = EFBIG;
        return refused("ftruncate");
    }
    made.user_of_page_.reset(TRY(map_zeros(run::kMaximumThreadPages)));
    made.user_of_event_.reset(TRY(map_zeros(run::kMaximumEvents)));
    TRY(made.add_user({::geteuid(), ::getegid()}));
    TRY(made.make_facts());
    return made;
}

std::int32_t RunMemory::shown_id(std::int32_t id) const {
    if (header().turns == 0 || id <= 0) return id;
    const auto& turns = *at<run::Turns>(0, run::kTurnsOffset);
    // Programs may have written anything there.
    const std::uint32_t used = std::min(__atomic_load_n(&turns.shown_ids, __ATOMIC_RELAXED), run::kShownIds);
    for (std::uint32_t i = used; i > 0; --i)
        if (__atomic_load_n(&turns.real_id[i - 1], __ATOMIC_RELAXED) == id)
            return run::kFirstShownId + static_cast<std::int32_t>(i - 1);
    return id;
}

std::int32_t RunMemory::kernel_id(std::int32_t shown) const {
    const std::int64_t index = std::int64_t{shown} - run::kFirstShownId;
    if (header().turns == 0 || index < 0 || index >= run::kShownIds) return shown;
    return __atomic_load_n(&at<run::Turns>(0, run::kTurnsOffset)->real_id[index], __ATOMIC_RELAXED);
}

Result<UserNumber> RunMemory::user_with(const UserIds& ids) {
    for (UserNumber user = 0; user < users(); ++user)
        if (users_[user].ids == ids) return user;
    if (users() == run::kMaximumUsers)
        return std::unexpected(
            Error{"cannot create the memory of another user", "the run has programs of too many users already", ""});
    TRY(add_user(ids));
    return users() - 1;
}

// The page stays taken where it came from, until return_page(): its number must not be given to another thread. Its old
// mailbox keeps its answers, which the thread no longer reads.
bool RunMemory::move_page(std::uint32_t page, UserNumber user) {
    const UserNumber from = user_of_page(page);
    const bool comes_home = home_of(page) == user;
    if (!comes_home && users_[user].moved.size() == run::kMaximumMovedPages) return false;
    pages(user)[page] = pages(from)[page];
    tuples(user)[page] = tuples(from)[page];
    // A later move, or an exec of its number, must not find the thread here.
    pages(from)[page].tid = pages(from)[page].pid = 0;
    tuples(from)[page].clear();
    user_of_page_.get()[page] = static_cast<char>(user);
    if (std::erase(users_[from].moved, page) != 0) publish_moved(from);
    if (comes_home) return true;
    users_[user].moved.push_back(page);
    publish_moved(user);
    return true;
}

void RunMemory::publish_moved(UserNumber user) {
    run::RunUse& used = use(user);
    const std::vector<std::uint32_t>& moved = users_[user].moved;
    std::ranges::copy(moved, used.moved_pages);
    __atomic_store_n(&used.moved_count, static_cast<std::uint32_t>(moved.size()), __ATOMIC_RELEASE);
}

void RunMemory::return_page(std::uint32_t page) {
    const UserNumber home = home_of(page);
    const UserNumber user = user_of_page(page);
    if (home == user) return;
    std::erase(users_[user].moved, page);
    publish_moved(user);
    user_of_page_.get()[page] = static_cast<char>(home);
    pages(home)[page].release();
}

void RunMemory::place_event(std::uint32_t event, UserNumber user) {
    if (event >= run::kMaximumEvents) return;
    user_of_event_.get()[event] = static_cast<char>(user);
    for (UserNumber each = 0; each < users(); ++each) events(each)[event] = subsystem::EventPage{};
}

void RunMemory::move_event(std::uint32_t event, UserNumber user) {
    if (event >= run::kMaximumEvents || user_of_event(event) == user) return;
    subsystem::EventPage& from = events(user_of_event(event))[event];
    events(user)[event] = from;
    events(user)[event].lock = {};
    events(user)[event].group_lock = {};
    from = subsystem::EventPage{};
    user_of_event_.get()[event] = static_cast<char>(user);
}

}  // namespace anyperf::broker
