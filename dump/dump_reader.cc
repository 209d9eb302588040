#include "dump/dump_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "dump/hdf5_entry.h"
#include "dump/hdf5_errors.h"
#include "dump/hdf5_location.h"
#include "dump/hdf5_scan.h"
#include "tensor/half.h"
#include "tensor/view.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Opening a pipe would wait for ever, so only regular files are tried.
void check_file(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  const auto fail = [&](const std::string& reason) {
    throw Error(fmt::format("cannot open {}: {}", path.string(), reason));
  };
  if (type == fs::file_type::not_found) fail("No such file or directory");
  if (type == fs::file_type::none) fail(error.message());
  if (type == fs::file_type::directory) fail("Is a directory");
  if (type != fs::file_type::regular) fail("not a regular file");
  if (access(path.c_str(), R_OK) != 0) fail(std::generic_category().message(errno));
}

H5::H5File open_file(const fs::path& path) {
  check_file(path);
  return hdf5::guarded<Error>("cannot open " + path.string(), [&] {
    if (!H5::H5File::isHdf5(path.string())) {
      throw Error(fmt::format("cannot open {}: not an HDF5 file", path.string()));
    }
    return H5::H5File(path.string(), H5F_ACC_RDONLY);
  });
}

void check_range(const DumpEntry& entry, ElementRange range, const std::string& where) {
  const std::int64_t elements = entry.desc.elements();
  if (range.first < 0 || range.count < 0 || range.first > elements ||
      range.count > elements - range.first) {
    throw Error(fmt::format("{}: elements [{}, {} + {}) are out of range, it has {}", where,
                            range.first, range.first, range.count, elements));
  }
}

// Any byte but 0 is true; a `bool` may only be 0 or 1.
void normalise_booleans(void* data, std::int64_t count) {
  auto* bytes = static_cast<std::uint8_t*>(data);
  std::transform(bytes, bytes + count, bytes, [](std::uint8_t b) { return b != 0 ? 1 : 0; });
}

}  // namespace

struct DumpReader::Impl {
  explicit Impl(const fs::path& path) : name(path.string()), file(open_file(path)) {
    scan = hdf5::guarded<Error>(name, [&] { return hdf5::scan(file, name); });
  }

  // The handles go here, where errors of closing stay quiet.
  ~Impl() {
    const hdf5::ErrorCapture quiet;
    dataset = H5::DataSet();
    file = H5::H5File();
  }

  void open_dataset(const DumpEntry& entry, const std::string& where);
  void read_stored(const DumpEntry& entry, ElementRange range, void* to) const;
  void read_logical(const DumpEntry& entry, ElementRange range, void* to) const;
  void read_chunk(const DumpEntry& entry, ElementRange range, void* to);

  std::string name;
  H5::H5File file;
  hdf5::ScanResult scan;
  std::string dataset_path;  // of the one that is open, as tensors are read in many ranges
  H5::DataSet dataset;
  std::vector<float> wide;
};

// The entry may be another file's, so what it says is checked against the dataset.
void DumpReader::Impl::open_dataset(const DumpEntry& entry, const std::string& where) {
  if (dataset_path != entry.path) {
    dataset_path.clear();
    dataset = file.openDataSet(entry.path);
    dataset_path = entry.path;
  }
  try {
    hdf5::type_to_read(dataset, entry.desc.dtype);
    if (hdf5::shape_of(dataset) == entry.desc.shape) return;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
  throw Error(fmt::format("{}: its shape is {}, the entry's {}", where,
                          to_string(hdf5::shape_of(dataset)), to_string(entry.desc.shape)));
}

void DumpReader::Impl::read_stored(const DumpEntry& entry, ElementRange range, void* to) const {
  const H5::PredType& type = hdf5::type_to_read(dataset, entry.desc.dtype);
  hdf5::read_range(dataset, entry.desc.shape, range, type, to);
}

void DumpReader::Impl::read_logical(const DumpEntry& entry, ElementRange range, void* to) const {
  const Dims& shape = entry.desc.shape;
  if (entry.kind != EntryKind::tensor || is_contiguous({shape, entry.stride, 0}) ||
      !hdf5::is_permuted_dense(shape, entry.stride)) {
    return read_stored(entry, range, to);
  }
  const std::size_t bytes = hdf5::size_of(hdf5::data_type_row(entry.desc.dtype).stored);
  hdf5::read_permuted(
      shape, entry.stride, range, bytes,
      [&](ElementRange stored, void* piece) { read_stored(entry, stored, piece); }, to);
}

void DumpReader::Impl::read_chunk(const DumpEntry& entry, ElementRange range, void* to) {
  const DType dtype = entry.desc.dtype;
  if (dtype == DType::fp16 || dtype == DType::bf16) {
    wide.resize(static_cast<std::size_t>(range.count));
    read_logical(entry, range, wide.data());
    if (dtype == DType::fp16) {
      narrow(wide.data(), static_cast<half*>(to), wide.size());
    } else {
      narrow(wide.data(), static_cast<bfloat16*>(to), wide.size());
    }
    return;
  }
  read_logical(entry, range, to);
  if (dtype == DType::boolean) normalise_booleans(to, range.count);
}

DumpReader::DumpReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {
  if (records().empty() && !problems().empty()) {
    throw Error(fmt::format("{}: no record /{{op}}/{{seq}} of a dump found; {}", impl_->name,
                            problems().front()));
  }
}

DumpReader::~DumpReader() = default;

const std::vector<DumpRecord>& DumpReader::records() const { return impl_->scan.records; }
const std::vector<std::string>& DumpReader::problems() const { return impl_->scan.problems; }

void DumpReader::read(const DumpEntry& entry, ElementRange range, void* to) {
  if (!entry.problem.empty()) throw Error(entry.problem);
  const std::string where = fmt::format("{}: {}", impl_->name, printable(entry.path));
  check_range(entry, range, where);
  auto* bytes = static_cast<std::byte*>(to);
  hdf5::guarded<Error>(where, [&] {
    impl_->open_dataset(entry, where);
    for (std::int64_t done = 0; done < range.count; done += hdf5::kChunkElements) {
      const std::int64_t count = std::min(range.count - done, hdf5::kChunkElements);
      impl_->read_chunk(entry, {range.first + done, count},
                        bytes + static_cast<std::size_t>(done) * size_of(entry.desc.dtype));
    }
  });
}

}  // namespace opbench
