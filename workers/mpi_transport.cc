// The only file that uses MPI. It is a separate module, which the program loads if a launcher of
// MPI started it: loading MPI takes ten milliseconds.
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <list>
#include <vector>

#include "workers/ranks.h"

namespace opbench {
namespace {

struct Sending {
  std::string text;
  MPI_Request request;
};

struct Receiving {
  Letter letter;
  MPI_Request request;
  bool is_complete = false;
};

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine_);
    MPI_Comm_size(machine_, &machine_size_);
    learn_names();
    learn_processes();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int machine_size() const override { return machine_size_; }
  std::string machine(int rank) const override {
    return &names_[static_cast<std::size_t>(rank) * MPI_MAX_PROCESSOR_NAME];
  }

  void send(int to, std::string text) override {
    Sending& sending = sending_.emplace_back();
    sending.text = std::move(text);
    MPI_Isend(sending.text.data(), static_cast<int>(sending.text.size()), MPI_BYTE, to, 0,
              MPI_COMM_WORLD, &sending.request);
  }

  bool is_sent() override {
    for (auto at = sending_.begin(); at != sending_.end();) {
      int is_done = 0;
      MPI_Test(&at->request, &is_done, MPI_STATUS_IGNORE);
      at = is_done != 0 ? sending_.erase(at) : std::next(at);
    }
    return sending_.empty();
  }

  std::optional<Letter> receive() override {
    is_sent();  // lets pending sends progress
    begin_receiving();
    std::vector<bool> has_earlier(static_cast<std::size_t>(size_));
    for (auto at = receiving_.begin(); at != receiving_.end(); ++at) {
      int is_done = 0;
      if (!at->is_complete) MPI_Test(&at->request, &is_done, MPI_STATUS_IGNORE);
      at->is_complete |= is_done != 0;
      const auto from = static_cast<std::size_t>(at->letter.from);
      if (at->is_complete && !has_earlier[from]) {
        Letter letter = std::move(at->letter);
        receiving_.erase(at);
        return letter;
      }
      has_earlier[from] = true;
    }
    return std::nullopt;
  }

  bool is_alive(int rank) override {
    const pid_t process = processes_[static_cast<std::size_t>(rank)];
    return process == 0 || kill(process, 0) == 0 || errno != ESRCH;
  }

  void finish() override { MPI_Finalize(); }
  void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  void learn_names() {
    char own[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(own, &length);
    names_.resize(static_cast<std::size_t>(size_) * sizeof own);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names_.data(), sizeof own, MPI_CHAR, MPI_COMM_WORLD);
  }

  void learn_processes() {
    const int own[2] = {rank_, static_cast<int>(getpid())};
    std::vector<int> all(2 * static_cast<std::size_t>(machine_size_));
    MPI_Allgather(own, 2, MPI_INT, all.data(), 2, MPI_INT, machine_);
    processes_.resize(static_cast<std::size_t>(size_));
    for (std::size_t i = 0; i < all.size(); i += 2) {
      processes_[static_cast<std::size_t>(all[i])] = all[i + 1];
    }
  }

  void begin_receiving() {
    int is_there = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &message, &status);
    if (is_there == 0) return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Receiving& receiving = receiving_.emplace_back();
    receiving.letter = {status.MPI_SOURCE, std::string(static_cast<std::size_t>(bytes), '\0')};
    MPI_Imrecv(receiving.letter.text.data(), bytes, MPI_BYTE, &message, &receiving.request);
  }

  int rank_ = 0, size_ = 1, machine_size_ = 1;
  MPI_Comm machine_;
  std::vector<char> names_;       ///< of the machines, MPI_MAX_PROCESSOR_NAME bytes for each rank
  std::vector<pid_t> processes_;  ///< by rank; 0 on other machines
  std::list<Sending> sending_;
  std::list<Receiving> receiving_;
};

}  // namespace
}  // namespace opbench

extern "C" __attribute__((visibility("default"))) opbench::Transport* opbench_make_transport(
    std::string& error) {
  int given = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) {
    error = "MPI could not be started";
    return nullptr;
  }
  if (given < MPI_THREAD_FUNNELED) {
    error = "this MPI does not allow threads (MPI_THREAD_FUNNELED)";
    return nullptr;
  }
  return new opbench::MpiTransport;
}
