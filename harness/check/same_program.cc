#include "harness/check/same_program.h"

#include <link.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "text/same_bytes.h"

namespace opbench::check {
namespace {

namespace fs = std::filesystem;

// Such a program takes libraries from the folder that it lies in.
bool finds_libraries_by_its_place() {
  const ElfW(Addr) program = _r_debug.r_map->l_addr;
  const char* texts = nullptr;
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // The loader makes an address of it, but not on every machine.
    const ElfW(Addr) place = entry->d_un.d_ptr;
    texts = reinterpret_cast<const char*>(place < program ? program + place : place);
  }
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    const bool is_path = entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH;
    if (!is_path || texts == nullptr) continue;
    const std::string_view path = texts + entry->d_un.d_val;
    if (path.find("ORIGIN") != path.npos) return true;
  }
  return false;
}

}  // namespace

bool is_same_program(const PeerProgram& base, const PeerProgram& current) {
  if (base.connect || current.connect || base.directory != current.directory) return false;
  std::error_code none;
  if (fs::equivalent(base.path, current.path, none)) return true;
  return !finds_libraries_by_its_place() && has_same_bytes(base.path, current.path);
}

}  // namespace opbench::check
