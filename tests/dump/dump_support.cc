#include "tests/dump/dump_support.h"

#include <cstring>

#include "tensor/half.h"

namespace opbench::dump_tests {

std::vector<std::byte> numbered(DType dtype, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = dtype == DType::boolean ? static_cast<double>(i % 3 == 0)
                                        : static_cast<double>(i % 251) - 10;
    if (dtype == DType::uint8) values[i] = static_cast<double>(i % 256);
  }
  std::vector<std::byte> elements(values.size() * size_of(dtype));
  from_doubles(dtype, values.data(), count, elements.data());
  return elements;
}

Tensor stored(const TensorDesc& desc, const std::vector<std::byte>& elements) {
  Tensor tensor(desc);
  std::memset(tensor.data(), 0xff, tensor.buffer.size());
  write_elements(desc, tensor.data(), {0, desc.elements()}, elements.data());
  return tensor;
}

namespace {

std::vector<DumpEntry> entries_of(const DumpRecord& record, Side side) {
  std::vector<DumpEntry> entries;
  for (const DumpEntry* entry : record.on(side)) entries.push_back(*entry);
  return entries;
}

}  // namespace

std::vector<DumpEntry> inputs_of(const DumpRecord& record) {
  return entries_of(record, Side::input);
}
std::vector<DumpEntry> outputs_of(const DumpRecord& record) {
  return entries_of(record, Side::output);
}

std::vector<std::byte> read_all(DumpFile& reader, const DumpEntry& entry) {
  const auto count = static_cast<std::size_t>(entry.desc.elements());
  std::vector<std::byte> stored(count * size_of(entry.stored));
  reader.read(entry, {0, entry.desc.elements()}, stored.data());
  const DType dtype = entry.desc.dtype;
  const auto* wide = reinterpret_cast<const float*>(stored.data());
  std::vector<std::byte> elements(count * size_of(dtype));
  if (dtype == DType::fp16 && entry.stored == StoredType::f32) {
    narrow(wide, reinterpret_cast<half*>(elements.data()), count);
  } else if (dtype == DType::bf16 && entry.stored == StoredType::f32) {
    narrow(wide, reinterpret_cast<bfloat16*>(elements.data()), count);
  } else if (is_byte_float(dtype) && entry.stored == StoredType::f32) {
    const std::vector<double> values(wide, wide + count);
    from_doubles(dtype, values.data(), entry.desc.elements(), elements.data());
  } else if (elements.size() == stored.size()) {
    return stored;
  } else {
    throw Error("the elements are not stored as the dtype has them");
  }
  return elements;
}

}  // namespace opbench::dump_tests
