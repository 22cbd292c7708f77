#pragma once

#include <string>
#include <sys/types.h>

// What remains to be done if fult-run is killed with SIGKILL: the ranks themselves die by their parent-death
// signal, but not what they have started. A small process that knows the job sees its pipe close, and kills
// the rest.
namespace fult::run {

// Removes /dev/shm/fult-<job>*.
void remove_shared_memory(const std::string &job) noexcept;

class guardian {
  public:
    // Starts the process. Throws std::system_error.
    explicit guardian(const std::string &job);
    // The job has ended well, or it has been cleaned up: the process ends without doing anything.
    ~guardian();

    guardian(const guardian &) = delete;
    guardian &operator=(const guardian &) = delete;

    // Called by a rank itself before it runs the program, so that there is no moment at which nobody knows
    // it.
    void watch_me() const noexcept;
    // Called when a rank has ended, before its process id can be used again.
    void forget(pid_t rank) const noexcept;

    pid_t process() const noexcept { return process_; }

  private:
    int pipe_;
    pid_t process_;
};

} // namespace fult::run
