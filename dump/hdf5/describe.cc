#include "dump/hdf5/describe.h"

#include <fmt/format.h>

#include <exception>

#include "dump/dump_meaning.h"
#include "dump/hdf5/attributes.h"
#include "dump/hdf5/layout.h"
#include "dump/hdf5/stored.h"

namespace opbench::hdf5 {
namespace {

// Opens attributes by their names. A list of all of them costs twice as much, and HDF5 1.10 crashes
// over one that is damaged.
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
  // True if the attribute is there and undamaged.
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
  // Asking for the extents of a virtual dataset may open the files it points to.
  if (is_virtual(dataset)) throw Error("it is a virtual dataset, which points to other files");
  return extents_of(dataset);
}

}  // namespace

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
  interpret(entry, shape, marks);  // without a shape it is a tensor all the same
  if (failure) std::rethrow_exception(failure);
  if (entry.stored == StoredType::none) {
    throw Error(
        fmt::format("its type is {}; allowed are integers of 8 to 64 bits, IEEE floating "
                    "point of 16, 32 and 64 bits, and booleans",
                    elements.name));
  }
  // TensorOptions are all attributes, their dataset is never filled.
  if (entry.attributes.type == static_cast<int>(SaveType::tensor_options)) return;
  const std::size_t bytes = size_of(entry.stored);
  const std::int64_t offset = place_of(dataset, entry.desc.elements(), bytes, file_bytes);
  if (elements.is_native) entry.offset = offset;
}

}  // namespace opbench::hdf5
