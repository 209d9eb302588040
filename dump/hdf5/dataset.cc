#include <fmt/format.h>

#include <algorithm>

#include "dump/hdf5/attributes.h"
#include "tensor/byte_float.h"

namespace opbench::hdf5 {
namespace {

H5::DataSpace space_of(const Dims& shape) {
  if (shape.empty()) return H5::DataSpace(H5S_SCALAR);
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return H5::DataSpace(static_cast<int>(extents.size()), extents.data());
}

// Returns the largest chunk with at most kChunkElements.
std::vector<hsize_t> chunk_of(const Dims& shape) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  std::int64_t elements = 1;
  for (const hsize_t extent : chunk) elements *= static_cast<std::int64_t>(extent);
  for (hsize_t& extent : chunk) {
    if (elements <= kChunkElements) break;
    elements /= static_cast<std::int64_t>(extent);
    extent = static_cast<hsize_t>(std::max<std::int64_t>(1, kChunkElements / elements));
    elements *= static_cast<std::int64_t>(extent);
  }
  return chunk;
}

// Properties of a dataset with the filters shuffle and deflate, unless it has no elements or one.
H5::DSetCreatPropList compressed(const Dims& shape) {
  constexpr unsigned kFast = 1;
  const H5::DSetCreatPropList list;
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.empty() || is_empty || H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0) return list;
  const std::vector<hsize_t> chunk = chunk_of(shape);
  list.setChunk(static_cast<int>(chunk.size()), chunk.data());
  list.setShuffle();
  list.setDeflate(kFast);
  return list;
}

// True if the dumper's DataType does not state the dtype. fp16 from the CPU is garbage in the
// original dumper's files; the mark distinguishes opbench's files.
bool needs_mark(DType dtype, DeviceType device) {
  return dtype == DType::bf16 || dtype == DType::int4 || is_byte_float(dtype) ||
         (dtype == DType::fp16 && device == DeviceType::cpu);
}

// Writes properties that the dumper's layout does not have.
void write_own_attributes(const H5::DataSet& dataset, const TensorDesc& desc, DeviceType device) {
  if (needs_mark(desc.dtype, device)) {
    write_text(dataset, "opbench_dtype", std::string(name(desc.dtype)));
  }
  if (is_private(desc.format)) {
    write_text(dataset, "opbench_format", std::string(name(desc.format)));
  }
}

// Attributes in the order of the original dumper.
void write_attributes(const H5::DataSet& dataset, const TensorDesc& desc, DeviceType device) {
  const Format format = device == DeviceType::npu ? desc.format : Format::NCHW;
  write_integer(dataset, "DeviceType", static_cast<std::int32_t>(device));
  write_integer(dataset, "DataType", data_type_row(desc.dtype).number);
  write_integer(dataset, "FormatType", static_cast<std::int32_t>(format));
  write_integer(dataset, "Type", static_cast<std::int32_t>(SaveType::tensor));
  write_integers(dataset, "Stride", dense_strides(desc.shape));
  write_own_attributes(dataset, desc, device);
}

// Copies ranges of elements from a tensor's storage to a dataset. Ranges reuse one buffer.
class ElementWriter {
 public:
  ElementWriter(const TensorDesc& desc, const void* storage, const H5::DataSet& dataset)
      : desc_(desc), storage_(storage), dataset_(dataset) {}

  void write(ElementRange range) {
    const auto count = static_cast<std::size_t>(range.count);
    elements_.resize(count * opbench::size_of(desc_.dtype));
    read_elements(desc_, storage_, range, elements_.data());
    const H5::DataType& type = memory_type(data_type_row(desc_.dtype).stored);
    write_range(dataset_, desc_.shape, range, type, as_stored(count));
  }

 private:
  const void* as_stored(std::size_t count) {
    if (!is_floating(desc_.dtype) || size_of(desc_.dtype) > 2) return elements_.data();
    wide_.resize(count);
    widen(desc_.dtype, elements_.data(), wide_.data(), count);
    return wide_.data();
  }

  const TensorDesc& desc_;
  const void* storage_;
  const H5::DataSet& dataset_;
  std::vector<std::byte> elements_;
  std::vector<float> wide_;
};

// Small blocks are written together, because a call costs more than their data. Large blocks are
// written in pieces.
void write_data(const TensorDesc& desc, const void* storage, const H5::DataSet& dataset) {
  ElementWriter writer(desc, storage, dataset);
  const std::int64_t blocks = block_count(desc);
  for (std::int64_t index = 0; index < blocks;) {
    ElementRange range = block(desc, index++);
    while (index < blocks && range.count + block(desc, index).count <= kChunkElements) {
      range.count += block(desc, index++).count;
    }
    for (std::int64_t done = 0; done < range.count; done += kChunkElements) {
      writer.write({range.first + done, std::min(range.count - done, kChunkElements)});
    }
  }
}

}  // namespace

void check_dumpable(const TensorDesc& desc) {
  desc.storage_elements();  // throws for shapes that do not fit their format
  if (desc.shape.size() > H5S_MAX_RANK) {
    throw Error(fmt::format("{} cannot be dumped: at most {} dimensions are allowed",
                            to_string(desc), H5S_MAX_RANK));
  }
}

H5::DataSet write_tensor(const H5::Group& group, const std::string& name, const TensorDesc& desc,
                         DeviceType device, const void* storage, bool is_compressed) {
  const H5::PredType& type = file_type(data_type_row(desc.dtype).stored);
  const H5::DataSet dataset =
      group.createDataSet(name, type, space_of(desc.shape),
                          is_compressed ? compressed(desc.shape) : H5::DSetCreatPropList::DEFAULT);
  write_attributes(dataset, desc, device);
  write_data(desc, storage, dataset);
  return dataset;
}

H5::DataSet write_attachment(const H5::Group& group, const std::string& name, StoredType stored,
                             std::size_t count, const void* values) {
  const Dims shape = {static_cast<std::int64_t>(count)};
  const H5::DataSet dataset =
      group.createDataSet(name, file_type(stored), space_of(shape), compressed(shape));
  write_integer(dataset, "Type", static_cast<std::int32_t>(SaveType::ar_long_int));
  if (count > 0) dataset.write(values, memory_type(stored));
  return dataset;
}

H5::DataSet write_scalar(const H5::Group& group, const std::string& name, StoredType stored,
                         const void* value) {
  const H5::DataSet dataset = group.createDataSet(name, file_type(stored), space_of({}));
  write_integer(dataset, "Type", static_cast<std::int32_t>(SaveType::scalar));
  dataset.write(value, memory_type(stored));
  return dataset;
}

H5::DataSet write_list(const H5::Group& group, const std::string& name,
                       std::span<const std::int64_t> values) {
  const H5::DataSet dataset =
      group.createDataSet(name, file_type(StoredType::i64), space_of({std::ssize(values)}));
  write_integer(dataset, "Type", static_cast<std::int32_t>(SaveType::ar_long_int));
  if (!values.empty()) dataset.write(values.data(), memory_type(StoredType::i64));
  return dataset;
}

}  // namespace opbench::hdf5
