#include "dump/hdf5/output.h"

#include <H5Cpp.h>
#include <fmt/format.h>
#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // for HDF5 1.14; older versions have its content in hdf5.h
#endif

#include <algorithm>
#include <iterator>
#include <memory>

#include "dump/hdf5/c_api.h"
#include "dump/hdf5/scan.h"
#include "dump/hdf5/server.h"
#include "tensor/utf8.h"
#include "workers/confined.h"

namespace opbench::hdf5 {
namespace {

/// State of an open file of the driver. HDF5 accesses `head`.
struct Output {
  H5FD_t head{};
  TemporaryFile* file = nullptr;
  haddr_t allocated = 0, written = 0;  // end of the allocated and of the written part
};

Output& output(H5FD_t* head) { return *reinterpret_cast<Output*>(head); }
const Output& output(const H5FD_t* head) { return *reinterpret_cast<const Output*>(head); }

H5FD_t* open_output(const char*, unsigned, hid_t access, haddr_t) {
  const auto* file = static_cast<TemporaryFile* const*>(H5Pget_driver_info(access));
  if (file == nullptr) return nullptr;
  auto opened = std::make_unique<Output>();
  opened->file = *file;
  return &opened.release()->head;
}

herr_t close_output(H5FD_t* head) {
  delete &output(head);
  return 0;
}

// Flags of HDF5's own file driver, so that the files are identical.
herr_t query(const H5FD_t*, unsigned long* features) {
  if (features == nullptr) return 0;
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t allocated(const H5FD_t* head, H5FD_mem_t) { return output(head).allocated; }

herr_t allocate(H5FD_t* head, H5FD_mem_t, haddr_t end) {
  output(head).allocated = end;
  return 0;
}

haddr_t written(const H5FD_t* head, H5FD_mem_t) { return output(head).written; }

herr_t read_output(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* to) {
  return output(head).file->read_at(address, to, bytes) ? 0 : -1;
}

herr_t write_output(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes,
                    const void* from) {
  Output& out = output(head);
  note_progress();
  out.file->write_at(address, from, bytes);
  out.written = std::max<haddr_t>(out.written, address + bytes);
  return 0;
}

herr_t truncate(H5FD_t* head, hid_t, hbool_t) {
  Output& out = output(head);
  if (out.written != out.allocated) out.file->resize(out.allocated);
  out.written = out.allocated;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = 511;  // the last number for unregistered drivers
#endif
  driver.name = "opbench";
  driver.maxaddr = HADDR_MAX >> 1;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(TemporaryFile*);
  driver.open = open_output;
  driver.close = close_output;
  driver.query = query;
  driver.get_eoa = allocated;
  driver.set_eoa = allocate;
  driver.get_eof = written;
  driver.read = read_output;
  driver.write = write_output;
  driver.truncate = truncate;
  constexpr H5FD_mem_t kKinds[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kKinds), std::end(kKinds), driver.fl_map);
  return driver;
}

hid_t driver() {
  static const H5FD_class_t itself = driver_class();
  static const hid_t id = checked(H5FDregister(&itself));
  return id;
}

H5::H5File open_source(const std::string& path, const std::string& name) {
  return guarded<Error>("cannot open " + name, [&] {
    if (!H5::H5File::isHdf5(path)) {
      throw Error(fmt::format("cannot open {}: not an HDF5 file", name));
    }
    return H5::H5File(path, H5F_ACC_RDONLY);
  });
}

// Copies like `h5copy -p`: attributes, layout and filters are kept; created groups have no
// attributes; links stay links.
void copy(const H5::H5File& from, const H5::H5File& to, const std::string& path) {
  const ObjectHandle object(H5Oopen(from.getId(), path.c_str(), inside_access()));
  const ListHandle links(H5Pcreate(H5P_LINK_CREATE));
  checked(H5Pset_create_intermediate_group(links, 1));
  checked(H5Ocopy(object, ".", to.getId(), path.c_str(), H5P_DEFAULT, links));
}

void copy_all(const std::string& path, const std::string& name, TemporaryFile& to,
              const std::vector<std::string>& objects) {
  const H5::H5File from = open_source(path, name);
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

H5::H5File create_file(TemporaryFile& file) {
  TemporaryFile* const info = &file;
  H5::FileAccPropList access;
  access.setDriver(driver(), &info);
  return {file.target().string(), H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access};
}

void copy_objects(MessageSocket& socket, const std::string& path, const std::string& name,
                  TemporaryFile& to, const std::vector<std::string>& objects) noexcept {
  report_problems(socket, MessageKind::failure, [&] {
    copy_all(path, name, to, objects);
    socket.send(MessageKind::data, "");
  });
}

}  // namespace opbench::hdf5
