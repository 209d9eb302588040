#include <fmt/format.h>

#include "dump/dump_selection.h"
#include "dump/hdf5/output.h"
#include "dump/reader_process.h"
#include "dump/regular_file.h"
#include "tensor/error.h"
#include "text/temporary_file.h"

namespace opbench {

void extract(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::vector<std::string>& objects, const std::function<bool()>& stop) {
  const RegularFile source(from);
  TemporaryFile file(to);
  const auto copy = [&](MessageSocket& socket, const std::string& path) {
    hdf5::copy_objects(socket, path, source.name(), file, objects);
  };
  ReaderProcess process({source.descriptor(), file.descriptor()}, source.name(), copy, stop);
  const auto check = [&] {
    if (stop && stop()) throw RunError(fmt::format("interrupted; {} is not written", to.string()));
    source.check_unchanged();
  };
  try {
    process.finish("copying from it");
  } catch (const Error&) {
    check();
    throw;
  }
  check();
  file.commit();
}

}  // namespace opbench
