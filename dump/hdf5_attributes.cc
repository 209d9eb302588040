#include "dump/hdf5_attributes.h"

#include <algorithm>
#include <limits>

#include "dump/hdf5_errors.h"

namespace opbench::hdf5 {
namespace {

// `count` integers of any width, as the original writes 32 bits and numpy 64.
std::vector<std::int64_t> read_integer_array(const H5::H5Object& object, const char* name,
                                             std::size_t count) {
  const auto must_be = fmt::format("must be {} integer{}", count, count == 1 ? "" : "s");
  if (!object.attrExists(name))
    throw Error(fmt::format("attribute {} is missing, {}", name, must_be));
  const H5::Attribute attribute = object.openAttribute(name);
  if (attribute.getTypeClass() != H5T_INTEGER) {
    throw Error(fmt::format("attribute {} is of type {}, {}", name,
                            name_of(attribute.getTypeClass()), must_be));
  }
  const auto found = static_cast<std::size_t>(attribute.getSpace().getSimpleExtentNpoints());
  if (found != count) {
    throw Error(fmt::format("attribute {} has {} elements, {}", name, found, must_be));
  }
  // One more than needed: HDF5 takes no null pointer, not even for nothing.
  std::vector<std::int64_t> values(count + 1);
  attribute.read(H5::PredType::NATIVE_INT64, values.data());
  values.resize(count);
  return values;
}

// Strings of variable length are left alone: HDF5 1.10 reads them wherever a damaged file says, and
// crashes.
bool holds_one_string(const H5::Attribute& attribute) {
  const H5::DataSpace space = attribute.getSpace();
  return attribute.getTypeClass() == H5T_STRING && !attribute.getStrType().isVariableStr() &&
         space.getSimpleExtentType() != H5S_NULL && space.getSimpleExtentNpoints() == 1;
}

std::string read_string(const H5::Attribute& attribute) {
  const H5::StrType type = attribute.getStrType();
  if (type.getSize() > kLongestText) {
    throw Error(fmt::format("attribute {} declares a text of {} bytes, at most {} are allowed",
                            printable(attribute.getName()), type.getSize(), kLongestText));
  }
  std::string value(type.getSize(), '\0');
  checked(H5Aread(attribute.getId(), type.getId(), value.data()));
  value.resize(std::min(value.size(), value.find('\0')));
  if (type.getStrpad() == H5T_STR_SPACEPAD) value.resize(value.find_last_not_of(' ') + 1);
  return value;
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

std::int32_t read_integer(const H5::H5Object& object, const char* name) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t value = read_integer_array(object, name, 1).front();
  if (value < Limits::min() || value > Limits::max()) {
    throw Error(fmt::format("attribute {} is {}, must fit into 32 bits", name, value));
  }
  return static_cast<std::int32_t>(value);
}

Dims read_integers(const H5::H5Object& object, const char* name, std::size_t count) {
  return read_integer_array(object, name, count);
}

std::optional<std::string> read_text(const H5::H5Object& object, const char* name) {
  if (!object.attrExists(name)) return std::nullopt;
  const H5::Attribute attribute = object.openAttribute(name);
  if (!holds_one_string(attribute)) {
    throw Error(fmt::format("attribute {} is of type {}, must be one string of fixed length", name,
                            name_of(attribute.getTypeClass())));
  }
  return read_string(attribute);
}

std::vector<Note> read_notes(const H5::H5Object& object) {
  std::vector<Note> notes;
  const int count = object.getNumAttrs();
  for (int index = 0; index < count; ++index) {
    const H5::Attribute attribute = object.openAttribute(static_cast<unsigned>(index));
    if (holds_one_string(attribute)) notes.push_back({attribute.getName(), read_string(attribute)});
  }
  return notes;
}

std::string name_of(H5T_class_t type_class) {
  switch (type_class) {
    case H5T_INTEGER:
      return "integer";
    case H5T_FLOAT:
      return "floating point";
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return "compound";
    case H5T_ENUM:
      return "enumeration";
    case H5T_VLEN:
      return "variable length";
    case H5T_ARRAY:
      return "array";
    case H5T_REFERENCE:
      return "reference";
    default:
      return fmt::format("HDF5 class {}", static_cast<int>(type_class));
  }
}

}  // namespace opbench::hdf5
