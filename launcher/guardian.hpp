#pragma once

#include <string>
#include <sys/types.h>

// Cleans up if fult-run is killed with SIGKILL: the ranks die by their parent-death signal, but not the
// processes that they have started. A small process that knows the job detects the closed pipe and kills the
// rest.
namespace fult::run {

// Removes /dev/shm/fult-<job>*.
void remove_shared_memory(const std::string &job) noexcept;

class guardian {
  public:
    // Starts the process. Throws std::system_error.
    explicit guardian(const std::string &job);
    // The job has ended normally or has been cleaned up: the process ends without further action.
    ~guardian();

    guardian(const guardian &) = delete;
    guardian &operator=(const guardian &) = delete;

    // Called by a rank itself before it runs the program, so that every process is watched at all times.
    void watch_me() const noexcept;
    // Called when a rank has ended, before its process id can be reused.
    void forget(pid_t rank) const noexcept;

    pid_t process() const noexcept { return process_; }

  private:
    int pipe_;
    pid_t process_;
};

} // namespace fult::run
