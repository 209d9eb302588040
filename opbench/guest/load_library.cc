#include <dlfcn.h>

#include "opbench/guest/library.h"
#include "opbench/guest/plugin_library.h"

namespace opbench::guest {

std::unique_ptr<Library> load_library(const std::string& file,
                                      const std::vector<Mapping>& mappings) {
  (void)mappings;
  // A name without a slash would be searched in the folders of the system.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw GuestError(std::string("cannot load ") + dlerror());
  void* entry = dlsym(library, "opbench_plugin");
  if (entry) return read_plugin(file, entry);
  throw GuestError(file + ": it does not export opbench_plugin (see opbench/opbench_plugin.h)");
}

}  // namespace opbench::guest
