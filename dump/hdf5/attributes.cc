#include "dump/hdf5/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "dump/dump_meaning.h"
#include "dump/hdf5/layout.h"
#include "dump/hdf5/stored.h"

namespace opbench::hdf5 {
namespace {

constexpr hsize_t kMostNumbers = 4 * H5S_MAX_RANK;

struct NoteList {
  std::vector<Note> notes;
  std::exception_ptr failure;
};

// Exceptions must not pass through HDF5.
herr_t add_note(hid_t object, const char* name, const H5A_info_t*, void* data) noexcept {
  auto& list = *static_cast<NoteList*>(data);
  try {
    const AttributeHandle attribute(H5Aopen(object, name, H5P_DEFAULT));
    if (auto text = read_one_text(attribute)) list.notes.push_back({name, std::move(*text)});
    return 0;
  } catch (...) {
    list.failure = std::current_exception();
    return -1;
  }
}

// Opens attributes by name. Listing all attributes costs twice as much, and HDF5 1.10 crashes on a
// damaged one.
class KnownAttributes {
 public:
  KnownAttributes(hid_t dataset, DumpEntry& entry)
      : dataset_(dataset), entry_(entry), unseen_(attribute_count(dataset)) {
    entry.attributes.count = unseen_;
  }

  void keep(const char* name, std::optional<std::int64_t>& value) {
    const bool is_there = use(name, [&](hid_t attribute) {
      const auto numbers = read_whole_numbers(attribute);
      if (numbers && numbers->size() == 1) value = numbers->front();
    });
    if (is_there && !value) remark(name, "is not one whole number");
  }

  void keep(const char* name, std::optional<Dims>& values) {
    const bool is_there =
        use(name, [&](hid_t attribute) { values = read_whole_numbers(attribute); });
    if (is_there && !values) remark(name, "is not a list of whole numbers");
  }

  void keep(const char* name, std::optional<std::string>& text) {
    const bool is_there = use(name, [&](hid_t attribute) { text = read_one_text(attribute); });
    if (is_there && !text) remark(name, "is not one string of fixed length");
  }

 private:
  // Returns true if the attribute exists and is undamaged.
  template <class Use>
  bool use(const char* name, Use&& use) {
    if (unseen_ == 0) return false;
    try {
      const auto attribute = open_attribute(dataset_, name);
      if (!attribute) return false;
      --unseen_;
      use(*attribute);
      return true;
    } catch (const H5::Exception&) {
      remark(name, "is damaged");
      return false;
    }
  }

  void remark(const char* name, const char* what) {
    add_remark(entry_.warning, fmt::format("attribute {} {}", name, what));
  }

  hid_t dataset_;
  DumpEntry& entry_;
  int unseen_;
};

OwnMarks read_attributes(hid_t dataset, DumpEntry& entry) {
  OwnMarks marks;
  KnownAttributes known(dataset, entry);
  known.keep("Type", entry.attributes.type);
  known.keep("DataType", entry.attributes.data_type);
  known.keep("DeviceType", entry.attributes.device_type);
  known.keep("FormatType", entry.attributes.format_type);
  known.keep("Stride", entry.attributes.stride);
  known.keep("opbench_dtype", marks.dtype);
  known.keep("opbench_format", marks.format);
  return marks;
}

StoredElements read_elements(hid_t dataset, DumpEntry& entry) {
  const TypeHandle type(H5Dget_type(dataset));
  StoredElements elements = stored_elements(type);
  entry.stored = elements.type;
  entry.stored_name = elements.name;
  return elements;
}

Dims read_shape(hid_t dataset) {
  // Reading the extents of a virtual dataset may open other files.
  if (is_virtual(dataset)) throw Error("it is a virtual dataset, which points to other files");
  return extents_of(dataset);
}

}  // namespace

void write_integer(const H5::H5Object& object, const char* name, std::int32_t value) {
  object.createAttribute(name, H5::PredType::STD_I32LE, H5::DataSpace(H5S_SCALAR))
      .write(H5::PredType::NATIVE_INT32, &value);
}

void write_integers(const H5::H5Object& object, const char* name, const Dims& values) {
  const hsize_t count = values.size();
  const std::int64_t nothing = 0;
  object.createAttribute(name, H5::PredType::STD_I64LE, H5::DataSpace(1, &count))
      .write(H5::PredType::NATIVE_INT64, values.empty() ? &nothing : values.data());
}

void write_text(const H5::H5Object& object, const std::string& name, const std::string& value) {
  H5::StrType type(H5::PredType::C_S1, std::max<std::size_t>(value.size(), 1));
  type.setCset(H5T_CSET_UTF8);
  type.setStrpad(H5T_STR_NULLPAD);
  object.createAttribute(name, type, H5::DataSpace(H5S_SCALAR)).write(type, value.c_str());
}

int attribute_count(hid_t object) {
  H5O_info_t info{};
  checked(H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS));
  return static_cast<int>(info.num_attrs);
}

std::optional<AttributeHandle> open_attribute(hid_t object, const char* name) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0 && checked(H5Aexists(object, name)) == 0) return std::nullopt;
  return AttributeHandle(attribute);
}

std::optional<Dims> read_whole_numbers(hid_t attribute) {
  const TypeHandle type(H5Aget_type(attribute));
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_INTEGER || bytes > sizeof(std::int64_t)) return std::nullopt;
  const hsize_t count = H5Aget_storage_size(attribute) / bytes;  // 0 for a null dataspace
  if (count > kMostNumbers) return std::nullopt;
  // HDF5 refuses a null pointer even for zero values, so the vector has one element more.
  Dims values(static_cast<std::size_t>(count) + 1);
  checked(H5Aread(attribute, H5T_NATIVE_INT64, values.data()));
  values.pop_back();
  return values;
}

// Strings of variable length are not read: HDF5 1.10 follows addresses of a damaged file and
// crashes.
std::optional<std::string> read_one_text(hid_t attribute) {
  const TypeHandle type(H5Aget_type(attribute));
  const SpaceHandle space(H5Aget_space(attribute));
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || bytes > kLongestText ||
      H5Sget_simple_extent_type(space) == H5S_NULL || H5Sget_simple_extent_npoints(space) != 1) {
    return std::nullopt;
  }
  std::string value(bytes, '\0');
  checked(H5Aread(attribute, type, value.data()));
  value.resize(std::min(value.size(), value.find('\0')));
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) value.resize(value.find_last_not_of(' ') + 1);
  return value;
}

std::vector<Note> read_texts(hid_t object) {
  if (attribute_count(object) == 0) return {};
  NoteList list;
  const herr_t status =
      H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_note, &list);
  if (list.failure) std::rethrow_exception(list.failure);
  checked(status);
  return std::move(list.notes);
}

std::vector<Note> read_notes(hid_t object) {
  std::vector<Note> notes;
  for (const std::string_view name : kNoteNames) {
    const auto attribute = open_attribute(object, name.data());  // a literal, so NUL-terminated
    if (!attribute) continue;
    if (auto text = read_one_text(*attribute)) notes.push_back({std::string(name), *text});
  }
  return notes;
}

void describe_dataset(hid_t dataset, std::int64_t file_bytes, DumpEntry& entry) {
  const OwnMarks marks = read_attributes(dataset, entry);
  StoredElements elements;
  Dims shape;
  std::exception_ptr failure;
  try {
    elements = read_elements(dataset, entry);
    shape = read_shape(dataset);
  } catch (...) {
    failure = std::current_exception();
  }
  interpret(entry, shape, marks);  // derives a tensor even without a shape
  if (failure) std::rethrow_exception(failure);
  if (entry.stored == StoredType::none) {
    throw Error(
        fmt::format("its type is {}; allowed are integers of 8 to 64 bits, IEEE floating "
                    "point of 16, 32 and 64 bits, and booleans",
                    elements.name));
  }
  // TensorOptions consist of attributes only. Their dataset is never filled.
  if (entry.attributes.type == static_cast<int>(SaveType::tensor_options)) return;
  const std::size_t bytes = size_of(entry.stored);
  const std::int64_t offset = place_of(dataset, entry.desc.elements(), bytes, file_bytes);
  if (elements.is_native) entry.offset = offset;
}

}  // namespace opbench::hdf5
