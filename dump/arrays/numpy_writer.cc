#include "dump/arrays/numpy_writer.h"

#include <fmt/format.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "dump/arrays/npy_header.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/temporary_file.h"

namespace opbench {
namespace {

// Output of the zip library, which seeks back to write sizes and CRCs.
struct ZipOutput {
  TemporaryFile& file;
  std::uint64_t place = 0, end = 0;
};

ZipOutput& zip_output_of(voidpf handle) { return *static_cast<ZipOutput*>(handle); }

voidpf open_zip_output(voidpf opaque, const void*, int) { return opaque; }
int close_zip_output(voidpf, voidpf) { return 0; }
int error_of_zip_output(voidpf, voidpf handle) {
  return zip_output_of(handle).file.has_failed() ? -1 : 0;
}
ZPOS64_T tell_zip_output(voidpf, voidpf handle) { return zip_output_of(handle).place; }

uLong read_zip_output(voidpf, voidpf handle, void* to, uLong count) {
  ZipOutput& stream = zip_output_of(handle);
  if (!stream.file.read_at(stream.place, to, count)) return 0;
  stream.place += count;
  return count;
}

uLong write_zip_output(voidpf, voidpf handle, const void* bytes, uLong count) {
  ZipOutput& stream = zip_output_of(handle);
  stream.file.write_at(stream.place, bytes, count);
  stream.place += count;
  stream.end = std::max(stream.end, stream.place);
  return stream.file.has_failed() ? 0 : count;
}

long seek_zip_output(voidpf, voidpf handle, ZPOS64_T offset, int origin) {
  ZipOutput& stream = zip_output_of(handle);
  stream.place = offset + (origin == SEEK_SET ? 0 : origin == SEEK_CUR ? stream.place : stream.end);
  return 0;
}

}  // namespace

NpyWriter::NpyWriter(const std::filesystem::path& path, StoredType type, const Dims& shape)
    : file_(path) {
  const std::string text = npy_header(type, shape);
  write(text.data(), text.size());
}

void NpyWriter::write(const void* elements, std::size_t bytes) {
  file_.write(elements, bytes);
  file_.check();
}

void NpyWriter::finish() { file_.commit(); }

struct NpzWriter::Impl {
  explicit Impl(const std::filesystem::path& path) : name(path.string()), file(path), stream{file} {
    zlib_filefunc64_def functions{};
    functions.zopen64_file = open_zip_output;
    functions.zread_file = read_zip_output;
    functions.zwrite_file = write_zip_output;
    functions.ztell64_file = tell_zip_output;
    functions.zseek64_file = seek_zip_output;
    functions.zclose_file = close_zip_output;
    functions.zerror_file = error_of_zip_output;
    functions.opaque = &stream;
    zip = zipOpen2_64(name.c_str(), APPEND_STATUS_CREATE, nullptr, &functions);
    check(zip != nullptr);
  }
  ~Impl() {
    if (zip != nullptr) zipClose(zip, nullptr);
  }

  void check(bool is_well) const {
    file.check();
    if (!is_well) throw RunError(fmt::format("cannot write {}: the archive failed", name));
  }

  void end_array() {
    if (!is_open) return;
    is_open = false;
    check(zipCloseFileInZip(zip) == ZIP_OK);
  }

  std::string name;
  TemporaryFile file;
  ZipOutput stream;
  zipFile zip = nullptr;
  bool is_open = false;
  std::set<std::string> names;
};

NpzWriter::NpzWriter(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
NpzWriter::~NpzWriter() = default;

void NpzWriter::begin(const std::string& name, StoredType type, const Dims& shape) {
  constexpr std::size_t kLongestName = 4000;  // bytes; ZipFile reads names of up to 4096
  const std::string header = npy_header(type, shape);
  if (name.empty() || name.size() > kLongestName || name.find('\0') != name.npos) {
    throw Error(fmt::format("'{}' cannot be a name in an .npz file", printable(name)));
  }
  if (!impl_->names.insert(name).second) {
    throw Error(
        fmt::format("cannot write {}: {} is written already", impl_->name, printable(name)));
  }
  impl_->end_array();
  zip_fileinfo info{};
  info.tmz_date = {0, 0, 0, 1, 0, 1980};  // fixed date, for reproducible files
  constexpr int kStored = 0, kLevel = 0, kZip64 = 1;
  impl_->check(zipOpenNewFileInZip64(impl_->zip, (name + ".npy").c_str(), &info, nullptr, 0,
                                     nullptr, 0, nullptr, kStored, kLevel, kZip64) == ZIP_OK);
  impl_->is_open = true;
  write(header.data(), header.size());
}

void NpzWriter::write(const void* elements, std::size_t bytes) {
  constexpr std::size_t kMostBytesAtOnce = 1 << 30;  // fits an unsigned
  const auto* next = static_cast<const char*>(elements);
  while (bytes > 0) {
    const std::size_t count = std::min(bytes, kMostBytesAtOnce);
    impl_->check(zipWriteInFileInZip(impl_->zip, next, static_cast<unsigned>(count)) == ZIP_OK);
    next += count;
    bytes -= count;
  }
}

void NpzWriter::finish() {
  impl_->end_array();
  const int state = zipClose(impl_->zip, nullptr);
  impl_->zip = nullptr;
  impl_->check(state == ZIP_OK);
  impl_->file.commit();
}

}  // namespace opbench
