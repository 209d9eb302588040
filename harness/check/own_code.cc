#include "harness/check/own_code.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tensor/processor.h"

namespace opbench::check {
namespace {

// What a timed call runs beside the kernels, and where memory comes from.
constexpr const char* kHarness[] = {
    "_ZNK7opbench5check12ShortSampler9sample_usEv",  // ShortSampler::sample_us() const
    "_ZNK7opbench10BoundGraph6launchEm",             // BoundGraph::launch(unsigned long) const
    "_ZN7opbench6BufferC1Em",                        // Buffer::Buffer(unsigned long)
};

/// What the loader has put together.
struct Loaded {
  std::uint64_t address = 0;  ///< of the program
  std::vector<std::string> libraries;
  bool has_program = false;
};

// By which a library tells its builds apart; empty: it does not.
std::string build_id(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info.dlpi_addr + segment.p_vaddr);
    const auto* const end = at + segment.p_memsz;
    ElfW(Nhdr) note{};
    while (at + sizeof note <= end) {
      std::memcpy(&note, at, sizeof note);
      const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
      const auto* const value = at + sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID) {
        return fmt::format("{:016x}", checksum(value, note.n_descsz));
      }
      at = value + padded(note.n_descsz);
    }
  }
  return {};
}

// The program comes first, with no name; the kernel's own library has no file.
int note_loaded(dl_phdr_info* info, std::size_t, void* data) {
  Loaded& loaded = *static_cast<Loaded*>(data);
  if (!loaded.has_program) {
    loaded.has_program = true;
    loaded.address = info->dlpi_addr;
  } else if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
    const std::string name = std::filesystem::path(info->dlpi_name).filename().string();
    loaded.libraries.push_back(fmt::format("{} {}", name, build_id(*info)));
  }
  return 0;
}

Loaded what_is_loaded() {
  Loaded loaded;
  dl_iterate_phdr(note_loaded, &loaded);
  std::sort(loaded.libraries.begin(), loaded.libraries.end());
  return loaded;
}

}  // namespace

OwnCode::OwnCode() : code_("/proc/self/exe") {
  const Loaded loaded = what_is_loaded();
  load_address_ = loaded.address;
  libraries_ = fmt::format("{}", fmt::join(loaded.libraries, "\n"));
  for (const char* name : kHarness) harness_.push_back(code_.address_of(name));
}

std::string OwnCode::of(std::span<const Kernel* const> kernels) {
  std::vector<std::uint64_t> roots = harness_;
  std::string text = fmt::format("{}\n{}\n{}", current_isa(), libraries_, code_.compilers());
  for (const Kernel* kernel : kernels) {
    // It runs whatever its operator points to.
    if (kernel->op.empty()) throw Error("the code of a reference is not followed");
    roots.push_back(reinterpret_cast<std::uint64_t>(kernel->prepare) - load_address_);
    text += '\n' + kernel->key();
  }
  text += '\n' + code_.fingerprint(roots);
  return fmt::format("{:016x}", checksum(text.data(), text.size()));
}

}  // namespace opbench::check
