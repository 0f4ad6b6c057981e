// run_memory.h: the memory that the broker shares with the programs of a run: memfds with the layout of run/layout.h,
// the facts and the run memories.
//
// There is a run memory for each user whose programs are in the run, so that programs of different users cannot write
// each other's data. Numbers of thread pages, events and rings are valid in the whole run: the broker remembers in
// which memory each of them is. A program gets the descriptor of its own user's memory only (requests/user_memory.cpp).
//
// The kernel lets no program write the facts. Programs may write their run memory at any time, so a value there may
// change between two reads, and may be false. The broker keeps what it relies on in its own memory (docs/security.md).
// No file can be made shorter or longer, so that no access to it can fail.
//
// The broker maps the facts, and each run memory up to its rings. It maps the rings one by one, and does not map the
// exact counts after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "anyperf/error.h"
#include "run/exact_counts.h"
#include "run/made_files.h"
#include "run/protocol.h"
#include "run/shared_array.h"

namespace anyperf::broker {

/// Owns a descriptor and closes it.
class OwnedFd {
  public:
    OwnedFd() = default;
    explicit OwnedFd(int fd) : fd_(fd) {}
    OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
    OwnedFd& operator=(OwnedFd&& other) noexcept;
    OwnedFd(const OwnedFd&) = delete;
    OwnedFd& operator=(const OwnedFd&) = delete;
    ~OwnedFd();

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    /// Gives the descriptor up without closing it.
    int release();

  private:
    int fd_ = -1;
};

/// The names of the memfds in /proc/PID/maps.
inline constexpr char kRunMemoryName[] = "anyperf-run";
inline constexpr char kFactsName[] = "anyperf-facts";
/// The size of the run memory without its exact counts. No ring is made beyond it (RunHost::new_ring). A page that was
/// never written takes no memory.
inline constexpr std::uint64_t kRunFileBytes = run::exact::kOffset;

/// The real, effective and saved ids of a process are these in a memory's record.
struct UserIds {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    bool operator==(const UserIds&) const = default;
};

/// Number of a run memory: 0 is that of the user who started the run.
using UserNumber = std::uint32_t;

class RunMemory {
  public:
    /// Creates the memfds of the first user and maps them. Error: the system call that failed, and the limit that may
    /// be the reason.
    static Result<RunMemory> make();

    // ---- users ----
    UserNumber users() const { return static_cast<UserNumber>(users_.size()); }
    const UserIds& ids_of(UserNumber user) const { return users_[user].ids; }
    /// The memory of these users' programs, which is made if there is none. Error: as of make(), or all are used.
    Result<UserNumber> user_with(const UserIds& ids);
    UserNumber user_of_page(std::uint32_t page) const {
        return page < run::kMaximumThreadPages ? number_at(user_of_page_, page) : 0;
    }
    UserNumber user_of_event(std::uint32_t event) const {
        return event < run::kMaximumEvents ? number_at(user_of_event_, event) : 0;
    }
    /// Copies a thread's page, and what belongs to it, to this user's memory, where its thread has it from now on.
    /// False if that memory has taken over too many pages.
    bool move_page(std::uint32_t page, UserNumber user);
    /// The thread of a moved page has ended and its counts are saved: the page is free again where it came from.
    void return_page(std::uint32_t page);
    /// The event's page is in this user's memory from now on. The pages of that number in the others are empty.
    void place_event(std::uint32_t event, UserNumber user);
    /// Copies the event's page to this user's memory.
    void move_event(std::uint32_t event, UserNumber user);
    /// Calls `function` with the number of each thread page that may be in use.
    template <class Function>
    void for_each_used_page(const Function& function) const {
        for (UserNumber user = 0; user < users(); ++user) {
            const std::uint32_t first = first_page_of(user);
            const std::uint32_t used = __atomic_load_n(&use(user).thread_pages, __ATOMIC_RELAXED);
            for (std::uint32_t number = first; number < std::min(used, first_page_of(user + 1)); ++number)
                function(number);
        }
    }

    run::RunHeader& header() const { return *reinterpret_cast<run::RunHeader*>(facts_.get()); }
    run::RunUse& use(UserNumber user = 0) const { return *at<run::RunUse>(user, 0); }
    /// The id that programs see for one of the kernel's: in a run with turns, the newest number that it has got
    /// (engine/shown_ids.h). Itself if it has none.
    std::int32_t shown_id(std::int32_t id) const;
    /// The kernel's id for one that programs see; 0 if its thread does not exist yet. Other numbers are themselves.
    std::int32_t kernel_id(std::int32_t shown) const;
    // Each array checks the index, which may come from a program (run::SharedArray).
    // Processes and ended threads have numbers of their own in each memory.
    const run::ProcessRecord& process(std::uint32_t number, UserNumber user = 0) const {
        return array<run::ProcessRecord>(user, run::kProcessesOffset, run::kMaximumProcesses)[number];
    }
    const run::ThreadRecord& thread(std::uint32_t number, UserNumber user = 0) const {
        return array<run::ThreadRecord>(user, run::kThreadsOffset, run::kMaximumThreads)[number];
    }
    run::ThreadPage& thread_page(std::uint32_t number) const { return pages(user_of_page(number))[number]; }
    /// All pages of a user's memory, for a claim (run/thread_pages.h).
    run::ThreadPage* pages_of(UserNumber user) const { return pages(user).data(); }
    const run::TupleCounts& tuple_counts(std::uint32_t thread_page) const {
        return tuples(user_of_page(thread_page))[thread_page];
    }
    /// What the thread of a page has counted.
    run::ThreadCounts counts_of(std::uint32_t thread_page_number) const {
        return {thread_page(thread_page_number).counters, tuple_counts(thread_page_number)};
    }
    subsystem::EventPage& event(std::uint32_t index) const { return events(user_of_event(index))[index]; }
    /// RunHost knows whose memory has the ring.
    subsystem::RingPage& ring(std::uint32_t index, UserNumber user) const {
        return array<subsystem::RingPage>(user, run::kRingPagesOffset, run::kMaximumRings)[index];
    }
    subsystem::Filter& filter(std::uint32_t index) const {
        return run::SharedArray{fact<subsystem::Filter>(run::kFiltersOffset), run::kMaximumFilters}[index];
    }
    std::span<subsystem::Probe> probes() const {
        return {fact<subsystem::Probe>(run::kProbesOffset), subsystem::kMaximumProbes};
    }
    std::span<subsystem::ProbeRecord> probe_records() const {
        return {fact<subsystem::ProbeRecord>(run::kProbeRecordsOffset), subsystem::kMaximumProbeRecords};
    }
    run::Mailbox& mailbox(std::uint32_t thread_page) const {
        return array<run::Mailbox>(user_of_page(thread_page), run::kMailboxesOffset,
                                   run::kMaximumThreadPages)[thread_page];
    }
    /// The numbers that programs of a user in a deterministic run see for files.
    run::MadeFiles& made_files(UserNumber user) const { return *at<run::MadeFiles>(user, run::kMadeFilesOffset); }
    int fd(UserNumber user = 0) const { return users_[user].fd.get(); }
    /// The memory that the broker alone writes.
    int facts_fd() const { return facts_fd_.get(); }
    /// Where rings end at the latest.
    std::uint64_t file_bytes() const { return std::min(file_bytes_, kRunFileBytes); }
    /// Whether there is room for exact counts after the rings.
    bool has_exact_part() const { return file_bytes_ == run::exact::kOffset + run::exact::kBytes; }

  private:
    template <std::size_t kBytes>
    struct Unmap {
        void operator()(char* memory) const;
    };
    /// The memory that the programs of one user share with the broker.
    struct UserMemory {
        UserIds ids;
        OwnedFd fd;
        std::unique_ptr<char, Unmap<run::kRingsOffset>> memory;
        std::vector<std::uint32_t> moved;  ///< pages of other memories that this one has taken over
    };
    /// Numbers of users, a byte each, all 0 at first. They take pages of memory only where another one is set, because
    /// most runs have one user, and a new page costs some 20 us on a virtual machine.
    template <std::size_t kCount>
    using Numbers = std::unique_ptr<char, Unmap<kCount>>;
    static_assert(run::kMaximumUsers <= 127);
    template <std::size_t kCount>
    static UserNumber number_at(const Numbers<kCount>& numbers, std::uint32_t index) {
        return static_cast<UserNumber>(numbers.get()[index]);
    }

    /// Writes the list of moved pages to the memory, for its engines.
    void publish_moved(UserNumber user);

    Result<void> make_facts();
    Result<void> add_user(const UserIds& ids);

    /// The first thread page of a user. For users() it is where the pages of the last user end.
    static constexpr std::uint32_t first_page_of(UserNumber user) {
        return user == 0 ? 0 : run::kPagesOfFirstUser + run::kPagesOfOtherUser * (user - 1);
    }
    /// The user whose programs claim this page. Pages of users that the run does not have belong to the first one: a
    /// program may send any number.
    UserNumber home_of(std::uint32_t page) const {
        if (page < run::kPagesOfFirstUser) return 0;
        const UserNumber user = 1 + (page - run::kPagesOfFirstUser) / run::kPagesOfOtherUser;
        return user < users() ? user : 0;
    }

    template <class T>
    T* at(UserNumber user, std::size_t offset) const {
        return reinterpret_cast<T*>(users_[user].memory.get() + offset);
    }
    template <class T>
    T* fact(std::size_t offset) const {
        return reinterpret_cast<T*>(facts_.get() + offset);
    }
    template <class T>
    run::SharedArray<T> array(UserNumber user, std::size_t offset, std::uint32_t count) const {
        return {at<T>(user, offset), count};
    }
    run::SharedArray<run::ThreadPage> pages(UserNumber user) const {
        return array<run::ThreadPage>(user, run::kThreadPagesOffset, run::kMaximumThreadPages);
    }
    run::SharedArray<run::TupleCounts> tuples(UserNumber user) const {
        return array<run::TupleCounts>(user, run::kTupleCountsOffset, run::kMaximumThreadPages);
    }
    run::SharedArray<subsystem::EventPage> events(UserNumber user) const {
        return array<subsystem::EventPage>(user, run::kEventsOffset, run::kMaximumEvents);
    }

    OwnedFd facts_fd_;
    std::uint64_t file_bytes_ = 0;
    std::unique_ptr<char, Unmap<run::kFactsBytes>> facts_;
    std::vector<UserMemory> users_;
    // Whose memory has the page, and the event's page.
    Numbers<run::kMaximumThreadPages> user_of_page_;
    Numbers<run::kMaximumEvents> user_of_event_;
};
static_assert(run::kMaximumUsers < 256);

}  // namespace anyperf::broker
