#include "harness/check/own_code.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tensor/processor.h"

namespace opbench::check {
namespace {

// Objects that a timed call runs in addition to the kernels. They refer to the objects of memory,
// threads and the watch of calls.
constexpr std::string_view kHarness[] = {"harness/check/sampler.cc", "harness/run/bound_graph.cc"};

struct Object {
  std::string_view digest;
  std::vector<std::string_view> needed;
};

using Objects = std::map<std::string_view, Object>;

// Removes and returns the text before `separator`, and removes the separator.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

Objects read_objects(std::string_view table) {
  Objects objects;
  while (!table.empty()) {
    std::string_view line = next_part(table, '\n');
    if (line.empty()) continue;
    Object& object = objects[next_part(line, ' ')];
    object.digest = next_part(line, ' ');
    while (!line.empty()) object.needed.push_back(next_part(line, ' '));
  }
  return objects;
}

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", checksum(text.data(), text.size()));
}

// Build id of a library; empty: it has none.
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

// The entry of the program has no name, and the kernel's own library has no file.
int note_library(dl_phdr_info* info, std::size_t, void* data) {
  if (info->dlpi_name == nullptr || info->dlpi_name[0] != '/') return 0;
  const std::string name = std::filesystem::path(info->dlpi_name).filename().string();
  static_cast<std::vector<std::string>*>(data)->push_back(
      fmt::format("{} {}", name, build_id(*info)));
  return 0;
}

std::string loaded_libraries() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(note_library, &libraries);
  std::sort(libraries.begin(), libraries.end());
  return fmt::format("{}", fmt::join(libraries, "\n"));
}

const ProgramCode& program_code() {
  static const std::vector<const ProgramCode*> registered = RegisteredCode::all();
  if (registered.empty()) throw Error("it was linked without the digests of its objects");
  return *registered.front();
}

}  // namespace

std::string digest_of_objects(const ProgramCode& code, std::vector<std::string_view> sources) {
  if (!code.unknown.empty()) throw Error(std::string(code.unknown));
  const Objects objects = read_objects(code.objects);
  std::set<std::string_view> reached(sources.begin(), sources.end());
  while (!sources.empty()) {
    const std::string_view source = sources.back();
    sources.pop_back();
    const auto found = objects.find(source);
    if (found == objects.end()) {
      throw Error(fmt::format("it was linked without a digest of the object of {}", source));
    }
    for (const std::string_view needed : found->second.needed) {
      if (reached.insert(needed).second) sources.push_back(needed);
    }
  }
  std::string text;
  for (const std::string_view source : reached) {
    text += fmt::format("{} {}\n", source, objects.at(source).digest);
  }
  return hash_of(text);
}

namespace {

// A file with kernels is known by its fingerprint, "libmine.so#0123456789abcdef".
std::string fingerprint_of(const Kernel& kernel) {
  const auto mark = kernel.origin.value.rfind('#');
  if (mark == std::string_view::npos) throw Error("the code of a device is unknown");
  return std::string(kernel.origin.value.substr(mark));
}

}  // namespace

std::string own_code(std::span<const Kernel* const> kernels) {
  static const std::string libraries = loaded_libraries();
  std::string text = fmt::format("{}\n{}\n{}", current_isa(), libraries, __VERSION__);
  std::vector<std::string_view> sources(std::begin(kHarness), std::end(kHarness));
  for (const Kernel* kernel : kernels) {
    // The kernel of a reference runs any code that its operator points to.
    if (kernel->op.empty()) throw Error("the code of a reference is unknown");
    text += '\n' + kernel->key();
    if (!kernel->origin.is_outside())
      sources.push_back(kernel->source);
    else
      text += ' ' + fingerprint_of(*kernel);
  }
  return hash_of(text + '\n' + digest_of_objects(program_code(), std::move(sources)));
}

}  // namespace opbench::check
