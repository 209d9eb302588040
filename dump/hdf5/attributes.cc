#include "dump/hdf5/attributes.h"

#include <algorithm>
#include <exception>

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
  // One more than needed: HDF5 takes no null pointer, not even for nothing.
  Dims values(static_cast<std::size_t>(count) + 1);
  checked(H5Aread(attribute, H5T_NATIVE_INT64, values.data()));
  values.pop_back();
  return values;
}

// Strings of variable length are left alone: HDF5 1.10 reads them wherever a damaged file says, and
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
    const auto attribute = open_attribute(object, name.data());  // of a literal, so NUL ends it
    if (!attribute) continue;
    if (auto text = read_one_text(*attribute)) notes.push_back({std::string(name), *text});
  }
  return notes;
}

}  // namespace opbench::hdf5
