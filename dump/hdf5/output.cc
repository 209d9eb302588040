#include "dump/hdf5/output.h"

#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // where HDF5 1.14 has what hdf5.h had before
#endif

#include <algorithm>
#include <iterator>
#include <memory>

#include "dump/hdf5/errors.h"
#include "workers/child_process.h"

namespace opbench::hdf5 {
namespace {

/// A file of the driver; HDF5 knows its beginning.
struct Output {
  H5FD_t head{};
  TemporaryFile* file = nullptr;
  haddr_t allocated = 0, written = 0;  // where the file ends, and will end
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

// Those of the library's own driver for files, so that the bytes are the same.
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

herr_t read(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* to) {
  return output(head).file->read_at(address, to, bytes) ? 0 : -1;
}

herr_t write(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes,
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
  driver.value = 511;  // the last of those for drivers that are not registered anywhere
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
  driver.read = read;
  driver.write = write;
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

}  // namespace

H5::H5File create_file(TemporaryFile& file) {
  TemporaryFile* const info = &file;
  H5::FileAccPropList access;
  access.setDriver(driver(), &info);
  return {file.target().string(), H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access};
}

}  // namespace opbench::hdf5
