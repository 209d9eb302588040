#include "workers/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/packed.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

// Set by Open MPI's mpirun, by launchers with PMIx, and by launchers with PMI.
constexpr const char* kLauncherVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

// Number of ranks started by a launcher; 0 if it is not stated; empty without a launcher.
std::optional<int> launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size);
  }
  for (const char* name : kLauncherVariables) {
    if (std::getenv(name) != nullptr) return 0;
  }
  return std::nullopt;
}

// Searches the program's folder, then the place of installation.
std::filesystem::path find_module() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto folder = program.parent_path();
  for (const auto& place :
       {folder / OPBENCH_MPI_MODULE, folder / OPBENCH_MODULE_FOLDER / OPBENCH_MPI_MODULE,
        std::filesystem::path(OPBENCH_INSTALLED_MODULES) / OPBENCH_MPI_MODULE}) {
    if (std::filesystem::exists(place, error)) return place;
  }
  return {};
}

std::unique_ptr<Transport> load_transport() {
  const std::filesystem::path module = find_module();
  if (module.empty()) {
    throw Error(fmt::format(
        "started as one of several ranks, but this build of opbench has no MPI: there is no {} "
        "next to the program; start it alone, or install libopenmpi-dev and build again",
        OPBENCH_MPI_MODULE));
  }
  // Open MPI's modules search its symbols among all loaded ones.
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, kMakeTransport);
  if (symbol == nullptr) throw Error(fmt::format("cannot load MPI: {}", dlerror()));
  std::string error;
  std::unique_ptr<Transport> transport(reinterpret_cast<MakeTransport>(symbol)(error));
  if (!transport) throw Error(error);
  return transport;
}

}  // namespace

Ranks start_ranks() {
  const auto launched = launched_ranks();
  if (!launched) return {};
  Ranks ranks = *launched == 1 ? Ranks() : Ranks(load_transport());
  for (const char* name : kLauncherVariables) unsetenv(name);
  // mpirun gives rank 0 a separate terminal, even if the output is redirected.
  setenv("NO_COLOR", "1", 1);
  if (ranks.is_alone()) use_cores_of_launcher();
  return ranks;
}

void use_cores_of_launcher() {
  cpu_set_t cores;
  // The binding is unchanged if the launcher's is unknown.
  if (sched_getaffinity(getppid(), sizeof cores, &cores) == 0) {
    sched_setaffinity(0, sizeof cores, &cores);
  }
}

Ranks::Ranks(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), has_left_(static_cast<std::size_t>(transport_->size())) {}

Ranks& Ranks::alone() {
  static Ranks ranks;
  return ranks;
}

std::string Ranks::describe(int rank) const {
  return transport_ ? fmt::format("rank {} on {}", rank, transport_->machine(rank)) : "rank 0";
}

int Ranks::share_of_cores() const {
  const int cores = available_cores();
  const int in_all = static_cast<int>(std::thread::hardware_concurrency());
  const int ranks = transport_ ? transport_->machine_size() : 1;
  // A launcher may have bound each rank to separate cores.
  return cores * ranks <= in_all ? cores : std::max(1, cores / ranks);
}

void Ranks::note_work(double unit_seconds, double wall_seconds) {
  work_.unit_seconds += unit_seconds;
  work_.wall_seconds += wall_seconds;
}

double Ranks::efficiency() const {
  return work_.wall_seconds > 0 ? work_.unit_seconds / (size() * work_.wall_seconds) : 0;
}

void Ranks::send(int to, LetterKind kind, const std::string& text) {
  transport_->send(to, static_cast<char>(kind) + text);
}

void Ranks::deliver(int to, LetterKind kind, const std::string& text) {
  send(to, kind, text);
  for (Nap nap; !transport_->is_sent(); nap.sleep()) require_all();
}

std::optional<Letter> Ranks::receive() { return transport_ ? transport_->receive() : std::nullopt; }

void Ranks::require_all() {
  if (!transport_) return;
  if (!is_first() && has_left_[0]) throw RunError("rank 0 has ended the work");
  const int last = is_first() ? size() : 1;
  for (int rank = 0; rank < last; ++rank) {
    if (has_left_[static_cast<std::size_t>(rank)] || transport_->is_alive(rank)) continue;
    throw RunError(
        fmt::format("{} is gone: its process has ended before its work was done", describe(rank)));
  }
}

void Ranks::note_leave(int rank) { has_left_[static_cast<std::size_t>(rank)] = true; }

int Ranks::finish(int code, const std::string& message) {
  if (!transport_) return code;
  try {
    if (is_first())
      finish_first(code);
    else
      finish_other(code, message);
    transport_->finish();
  } catch (const RunError&) {
    transport_->abort(code == 0 ? 3 : code);
  }
  // A launcher returns the first nonzero code as that of all ranks.
  return is_first() ? code : 0;
}

void Ranks::finish_first(int code) {
  for (int rank = 1; rank < size(); ++rank) send(rank, LetterKind::dismiss, "");
  const auto begin = Clock::now();
  const std::chrono::seconds patience(5);
  Nap nap;
  while (std::find(has_left_.begin() + 1, has_left_.end(), false) != has_left_.end() ||
         !transport_->is_sent()) {
    if (const auto letter = receive()) {
      if (letter->text.front() == static_cast<char>(LetterKind::leave)) note_leave(letter->from);
      continue;
    }
    require_all();
    if (code != 0 && Clock::now() - begin > patience) throw RunError("ranks do not come back");
    nap.sleep();
  }
}

void Ranks::finish_other(int code, const std::string& message) {
  Packer packer;
  packer.add(code);
  packer.add(message);
  send(0, LetterKind::leave, packer.take());
  for (Nap nap; !transport_->is_sent() || !has_left_[0]; nap.sleep()) {
    const auto letter = receive();
    if (letter && letter->text.front() == static_cast<char>(LetterKind::dismiss)) note_leave(0);
    if (!letter && !has_left_[0]) require_all();
  }
}

int Nap::microseconds() {
  const int now = microseconds_;
  microseconds_ = std::min(kLongest, microseconds_ * 2);
  return now;
}

void Nap::sleep() { std::this_thread::sleep_for(std::chrono::microseconds(microseconds())); }

}  // namespace opbench
