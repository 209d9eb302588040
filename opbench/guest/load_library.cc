#include <dlfcn.h>

#include <algorithm>

#include "opbench/guest/elf_symbols.h"
#include "opbench/guest/library.h"
#include "opbench/guest/plugin_library.h"
#include "opbench/guest/tvm_library.h"

namespace opbench::guest {
namespace {

/// dlerror() with the file, and with what helps if TVM-FFI's library is missing.
std::string load_error(const std::string& file) {
  std::string text = dlerror();
  if (text.find(file) == std::string::npos) text = file + ": " + text;
  if (text.find("libtvm_ffi.so:") != std::string::npos)
    text += "; set LD_LIBRARY_PATH to the folder of libtvm_ffi.so";
  else if (text.find("undefined symbol: TVM") != std::string::npos)
    text += ", a function of TVM-FFI; set LD_PRELOAD to the path of libtvm_ffi.so";
  return text;
}

bool contains(const std::vector<std::string>& list, const char* name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

std::unique_ptr<Library> load_library(const std::string& file,
                                      const std::vector<Mapping>& mappings) {
  // A name without a slash would be searched in the folders of the system.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  const ElfNames names = read_elf(path);
  const bool is_plugin = contains(names.exported, "opbench_plugin");
  const std::vector<std::string> functions = tvm_functions(names.exported);
  // A library that is linked with libtvm_ffi.so finds that one's functions before this program's.
  const int deep = contains(names.needed, "libtvm_ffi.so") ? RTLD_DEEPBIND : 0;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | deep);
  if (!library) throw GuestError(load_error(path));
  if (is_plugin && !mappings.empty())
    throw GuestError(file + ": it exports opbench_plugin, whose kernels name their operators; " +
                     mappings[0].function + "=" + mappings[0].op + " is for libraries of TVM-FFI");
  if (is_plugin) return read_plugin(file, dlsym(library, "opbench_plugin"));
  if (!functions.empty()) return read_tvm_library({file, library, functions}, mappings);
  throw GuestError(file +
                   ": it exports neither opbench_plugin (see opbench/opbench_plugin.h) nor a "
                   "function of TVM-FFI, __tvm_ffi_NAME");
}

}  // namespace opbench::guest
