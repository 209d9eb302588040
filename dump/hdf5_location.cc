#include "dump/hdf5_location.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dump/hdf5_layout.h"
#include "tensor/error.h"

namespace opbench::hdf5 {
namespace {

constexpr hsize_t kLargestChunk = hsize_t{1} << 28;  // bytes; HDF5 holds a whole one in memory

void check_chunks(const H5::DSetCreatPropList& properties, std::size_t rank,
                  std::size_t element_bytes) {
  std::vector<hsize_t> extents(rank);
  properties.getChunk(static_cast<int>(rank), extents.data());
  hsize_t bytes = element_bytes;
  for (const hsize_t extent : extents) {
    if (extent > kLargestChunk) throw Error(fmt::format("its chunks extend over {}", extent));
    bytes *= extent;  // cannot overflow: both factors are at most 2^28
    if (bytes > kLargestChunk) {
      throw Error(fmt::format("its chunks take {} bytes or more, at most {} are allowed", bytes,
                              kLargestChunk));
    }
  }
}

void check_contiguous(const H5::DataSet& dataset, std::int64_t elements, hsize_t file_bytes) {
  const hsize_t element_bytes = dataset.getDataType().getSize();
  const hsize_t stored = dataset.getStorageSize();
  if (static_cast<hsize_t>(elements) > file_bytes / element_bytes || stored > file_bytes ||
      dataset.getOffset() > file_bytes - stored) {
    throw Error(fmt::format("{} elements of {} bytes are declared, the file has {} bytes", elements,
                            element_bytes, file_bytes));
  }
  if (stored != static_cast<hsize_t>(elements) * element_bytes) {
    throw Error(fmt::format("{} elements of {} bytes are declared, {} bytes are stored", elements,
                            element_bytes, stored));
  }
}

// Where logical elements lie in storage, one after the other.
class StoragePlaces {
 public:
  StoragePlaces(const Dims& shape, const Dims& strides, std::int64_t first)
      : shape_(shape), strides_(strides), index_(shape.size()) {
    for (std::size_t axis = shape.size(); axis-- > 0; first /= shape[axis]) {
      index_[axis] = first % shape[axis];
      place_ += index_[axis] * strides[axis];
    }
  }

  std::int64_t next() {
    const std::int64_t place = place_;
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      place_ += strides_[axis];
      if (++index_[axis] < shape_[axis]) break;
      place_ -= index_[axis] * strides_[axis];
      index_[axis] = 0;
    }
    return place;
  }

 private:
  const Dims& shape_;
  const Dims& strides_;
  Dims index_;
  std::int64_t place_ = 0;
};

}  // namespace

void check_data_is_inside(const H5::DataSet& dataset, std::int64_t elements,
                          std::int64_t file_bytes) {
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  const H5D_layout_t layout = properties.getLayout();
  if (layout == H5D_VIRTUAL) throw Error("it is a virtual dataset, which points to other files");
  if (properties.getExternalCount() > 0) throw Error("its data is in an external file");
  if (layout == H5D_CHUNKED) {
    const int rank = dataset.getSpace().getSimpleExtentNdims();
    check_chunks(properties, static_cast<std::size_t>(rank), dataset.getDataType().getSize());
  }
  if (elements == 0) return;
  H5D_space_status_t status{};
  dataset.getSpaceStatus(status);
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED) throw Error("no data was written");
  if (layout == H5D_CONTIGUOUS) {
    check_contiguous(dataset, elements, static_cast<hsize_t>(file_bytes));
  }
}

bool is_permuted_dense(const Dims& shape, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // (stride, extent)
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1) axes.emplace_back(strides[axis], shape[axis]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t dense = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride != dense) return false;
    dense *= extent;
  }
  return true;
}

// The logical range spans a range of storage, which is read once, in pieces; each gives its
// elements.
void read_permuted(const Dims& shape, const Dims& strides, ElementRange range,
                   std::size_t element_bytes,
                   const std::function<void(ElementRange stored, void* to)>& read, void* to) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(range.count));
  StoragePlaces next(shape, strides, range.first);
  std::generate(places.begin(), places.end(), [&] { return next.next(); });
  if (places.empty()) return;
  const auto [first, last] = std::minmax_element(places.begin(), places.end());
  std::vector<std::byte> piece(static_cast<std::size_t>(kChunkElements) * element_bytes);
  for (std::int64_t begin = *first; begin <= *last; begin += kChunkElements) {
    const std::int64_t end = std::min(begin + kChunkElements, *last + 1);
    read({begin, end - begin}, piece.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < begin || places[i] >= end) continue;
      std::memcpy(static_cast<std::byte*>(to) + i * element_bytes,
                  piece.data() + static_cast<std::size_t>(places[i] - begin) * element_bytes,
                  element_bytes);
    }
  }
}

}  // namespace opbench::hdf5
