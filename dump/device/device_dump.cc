#include "dump/device/device_dump.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "dump/device/device_names.h"
#include "dump/device/dump_data.pb.h"
#include "dump/regular_file.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kLengthBytes = 8;  // of the length before the header
constexpr std::uint64_t kLongestMessage = std::numeric_limits<int>::max();  // protobuf's limit

void set_shape(device_proto::Shape& shape, const Dims& dims) {
  for (const std::int64_t extent : dims) shape.add_dim(static_cast<std::uint64_t>(extent));
}

template <class Message>
void describe_tensor(Message& message, const TensorDesc& desc) {
  message.set_data_type(static_cast<std::int32_t>(device_data_type(desc.dtype)));
  message.set_format(static_cast<std::int32_t>(desc.format));
  set_shape(*message.mutable_shape(), desc.storage());
  set_shape(*message.mutable_original_shape(), desc.shape);
  message.set_size(desc.bytes());
  if (desc.groups > 1) message.set_sub_format(desc.groups);
}

std::string header_of(const DeviceDumpHead& head) {
  device_proto::DumpData data;
  data.set_version("2.0");
  data.set_dump_time(head.time);
  data.set_op_name(head.op_name);
  for (const TensorDesc& desc : head.inputs) describe_tensor(*data.add_input(), desc);
  for (const TensorDesc& desc : head.outputs) describe_tensor(*data.add_output(), desc);
  return data.SerializeAsString();
}

}  // namespace

struct DeviceDump::Impl {
  Impl(const std::filesystem::path& path, DeviceDumpVersion version) : file(path) {
    const bool is_inline = version == DeviceDumpVersion::inline_data;
    const std::int64_t start = is_inline ? 0 : kLengthBytes;
    const std::uint64_t length = is_inline ? size() : header_length();
    if (length > kLongestMessage) {
      fail(fmt::format("header: {} bytes, at most {} are allowed", length, kLongestMessage));
    }
    std::string bytes(length, '\0');
    file.read(start, bytes.size(), bytes.data());
    device_proto::DumpData data;
    if (!data.ParseFromString(bytes)) {
      fail(fmt::format("header: its {} bytes are not a DumpData message{}", length,
                       is_inline ? "" : "; files of version 1 are read with -v 1"));
    }
    next = start + static_cast<std::int64_t>(length);
    op_name = data.op_name();
    take_all(std::move(data), is_inline);
    if (!is_inline) check_end();
    file.check_unchanged();
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("{}: {}", file.name(), reason));
  }

  std::uint64_t size() const { return static_cast<std::uint64_t>(file.bytes()); }

  std::uint64_t header_length() const {
    if (file.bytes() < kLengthBytes) {
      fail(fmt::format("header length: the file has {} bytes, {} are needed", file.bytes(),
                       kLengthBytes));
    }
    std::uint64_t length = 0;
    file.read(0, sizeof length, &length);
    if (length > size() - kLengthBytes) {
      fail(fmt::format("header length: found {}, but {} bytes follow", length,
                       size() - kLengthBytes));
    }
    return length;
  }

  // The data of inputs comes first in the file, in any order of the message.
  void take_all(device_proto::DumpData&& data, bool is_inline) {
    for (int i = 0; i < data.input_size(); ++i) {
      take_tensor(*data.mutable_input(i), Side::input, i, is_inline);
    }
    for (int i = 0; i < data.output_size(); ++i) {
      take_tensor(*data.mutable_output(i), Side::output, i, is_inline);
    }
    for (int i = 0; i < data.buffer_size(); ++i) {
      take_block(*data.mutable_buffer(i), "l1buffer", "buffer", i, is_inline);
    }
    for (int i = 0; i < data.space_size(); ++i) {
      take_block(*data.mutable_space(i), "space", "space", i, is_inline);
    }
  }

  template <class Message>
  void take_tensor(Message& message, Side side, int index, bool is_inline) {
    DeviceTensor tensor;
    tensor.side = side;
    tensor.index = index;
    const std::string where = to_string(tensor);
    tensor.data_type = message.data_type();
    tensor.format = message.format();
    if (message.has_shape()) tensor.shape = dims(message.shape(), where + ".shape");
    if (message.has_original_shape()) {
      tensor.original_shape = dims(message.original_shape(), where + ".original_shape");
    }
    tensor.groups = std::max(1, message.sub_format());
    tensor.place = place_of(message, where, is_inline);
    tensors.push_back(std::move(tensor));
  }

  template <class Message>
  void take_block(Message& message, const char* kind, const char* field, int index,
                  bool is_inline) {
    const std::string where = fmt::format("{}[{}]", field, index);
    blocks.push_back({kind, index, place_of(message, where, is_inline)});
  }

  Dims dims(const device_proto::Shape& shape, const std::string& where) const {
    Dims result;
    for (const std::uint64_t extent : shape.dim()) {
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        fail(fmt::format("{}: found an extent of {}, that is {}", where, extent,
                         static_cast<std::int64_t>(extent)));
      }
      result.push_back(static_cast<std::int64_t>(extent));
      if (result.size() > kLargestRank) {
        fail(fmt::format("{}: more than {} extents", where, kLargestRank));
      }
    }
    try {
      element_count(result);
    } catch (const Error& error) {
      fail(fmt::format("{}: {}", where, error.what()));
    }
    return result;
  }

  template <class Message>
  DevicePlace place_of(Message& message, const std::string& where, bool is_inline) {
    if (is_inline) {
      messages.push_back(std::move(*message.mutable_data()));
      return {0, static_cast<std::int64_t>(messages.back().size()),
              static_cast<int>(messages.size()) - 1};
    }
    const std::uint64_t left = size() - static_cast<std::uint64_t>(next);
    if (message.size() > left) {
      fail(fmt::format("{}.size: found {}, but {} bytes are left", where, message.size(), left));
    }
    const DevicePlace place{next, static_cast<std::int64_t>(message.size())};
    next += place.bytes;
    return place;
  }

  void check_end() const {
    if (next == file.bytes()) return;
    fail(fmt::format("size: header and data take {} bytes, the file has {}", next, file.bytes()));
  }

  RegularFile file;
  std::int64_t next = 0;  // offset of the next tensor's data
  std::string op_name;
  std::vector<DeviceTensor> tensors;
  std::vector<DeviceBlock> blocks;
  std::vector<std::string> messages;  // data in version 1
};

DeviceDump::DeviceDump(const std::filesystem::path& path, DeviceDumpVersion version)
    : impl_(std::make_unique<Impl>(path, version)) {}
DeviceDump::DeviceDump(DeviceDump&&) noexcept = default;
DeviceDump::~DeviceDump() = default;

const std::string& DeviceDump::name() const { return impl_->file.name(); }
const std::string& DeviceDump::op_name() const { return impl_->op_name; }
const std::vector<DeviceTensor>& DeviceDump::tensors() const { return impl_->tensors; }
const std::vector<DeviceBlock>& DeviceDump::blocks() const { return impl_->blocks; }

void DeviceDump::read(const DevicePlace& place, std::int64_t from, std::size_t count,
                      void* to) const {
  if (from < 0 || from > place.bytes || count > static_cast<std::uint64_t>(place.bytes - from)) {
    impl_->fail(
        fmt::format("{} bytes at {} are requested, there are {}", count, from, place.bytes));
  }
  if (count == 0) return;
  if (place.message >= 0) {
    std::memcpy(to, impl_->messages.at(static_cast<std::size_t>(place.message)).data() + from,
                count);
  } else {
    impl_->file.read(place.offset + from, count, to);
  }
}

std::string to_string(const DeviceTensor& tensor) {
  return fmt::format("{}[{}]", name(tensor.side), tensor.index);
}

DeviceDumpWriter::DeviceDumpWriter(const std::filesystem::path& path, const DeviceDumpHead& head)
    : file_(path) {
  const std::string header = header_of(head);
  const std::uint64_t length = header.size();
  file_.write(&length, sizeof length);
  file_.write(header.data(), header.size());
  std::uint64_t next = sizeof length + length;
  const auto place_all = [&](const std::vector<TensorDesc>& descs, std::vector<Place>& places) {
    for (const TensorDesc& desc : descs) {
      places.push_back({next, desc.bytes()});
      next += desc.bytes();
    }
  };
  place_all(head.inputs, inputs_);
  place_all(head.outputs, outputs_);
  file_.resize(next);
  file_.check();
}

void DeviceDumpWriter::write(Side side, std::size_t index, const void* storage) {
  const Place& place = (side == Side::input ? inputs_ : outputs_).at(index);
  file_.write_at(place.offset, storage, place.bytes);
  file_.check();
}

void DeviceDumpWriter::finish() { file_.commit(); }

}  // namespace opbench
