#include "dump/hdf5/copy.h"

#include <H5Cpp.h>
#include <fmt/format.h>

#include <exception>
#include <new>

#include "dump/hdf5/handle.h"
#include "dump/hdf5/output.h"
#include "dump/hdf5/scan.h"
#include "tensor/printable.h"
#include "workers/child_process.h"

namespace opbench::hdf5 {
namespace {

H5::H5File open(const std::string& path, const std::string& name) {
  return guarded<Error>("cannot open " + name, [&] {
    if (!H5::H5File::isHdf5(path)) {
      throw Error(fmt::format("cannot open {}: not an HDF5 file", name));
    }
    return H5::H5File(path, H5F_ACC_RDONLY);
  });
}

// As h5copy -p does it: attributes, layout and filters as they are, groups above without theirs,
// links as links.
void copy(const H5::H5File& from, const H5::H5File& to, const std::string& path) {
  const ObjectHandle object(H5Oopen(from.getId(), path.c_str(), inside_access()));
  const ListHandle links(H5Pcreate(H5P_LINK_CREATE));
  checked(H5Pset_create_intermediate_group(links, 1));
  checked(H5Ocopy(object, ".", to.getId(), path.c_str(), H5P_DEFAULT, links));
}

void copy_all(const std::string& path, const std::string& name, TemporaryFile& to,
              const std::vector<std::string>& objects) {
  const H5::H5File from = open(path, name);
  H5::H5File file = guarded<RunError>("cannot write", [&] { return create_file(to); });
  for (const std::string& object : objects) {
    guarded<Error>(fmt::format("{}: {} cannot be copied", name, printable(object)),
                   [&] { copy(from, file, object); });
    to.check();
    note_progress();
  }
  guarded<RunError>("cannot write", [&] { file.close(); });
  to.check();
}

}  // namespace

void copy_objects(MessageSocket& socket, const std::string& path, const std::string& name,
                  TemporaryFile& to, const std::vector<std::string>& objects) noexcept {
  const ErrorCapture quiet;
  try {
    copy_all(path, name, to, objects);
    socket.send(MessageKind::data, "");
  } catch (const RunError& error) {
    socket.send(MessageKind::failure, error.what());
  } catch (const std::bad_alloc&) {
    socket.send(MessageKind::failure, "out of memory");
  } catch (const std::exception& error) {
    socket.send(MessageKind::problem, error.what());
  } catch (const H5::Exception& error) {
    socket.send(MessageKind::problem, printable(error.getDetailMsg()));
  }
}

}  // namespace opbench::hdf5
