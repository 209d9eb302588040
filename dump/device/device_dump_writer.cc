#include "dump/device/device_dump_writer.h"

#include "dump/device/device_types.h"
#include "dump/device/dump_data.pb.h"

namespace opbench {
namespace {

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
