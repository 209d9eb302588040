// write_dump_seeds DUMPS LISTS: small dumps as seeds of dump_file_fuzz, and their catalogues as
// seeds of catalogue_fuzz.

#include <H5Cpp.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dump/catalogue.h"
#include "dump/dump_file.h"
#include "dump/dump_writer.h"

namespace {

using namespace opbench;
namespace fs = std::filesystem;

void write_dump(const fs::path& path, DType dtype, const Dims& shape, Format format) {
  const TensorDesc desc = describe(dtype, shape, format);
  const Tensor zeros(desc);
  DumpWriter writer(path);
  writer.begin_record("SoftplusBackward", DeviceType::npu,
                      {{"opbench_case", "softplus[2x3,fp32,ND]"}});
  writer.write_input("self", desc, zeros.data());
  writer.write_input_scalar("beta", 1.0);
  writer.write_input_scalar("flag", true);
  writer.write_output("result", desc, zeros.data());
  writer.begin_record("MulBackward0", DeviceType::cpu);
  writer.write_input("grads/grads_0", desc, zeros.data());
  writer.write_input_scalar("n", std::int64_t{3});
  writer.finish();
}

void set(const H5::DataSet& dataset, const char* name, std::vector<std::int64_t> values) {
  const hsize_t count = values.size();
  dataset.createAttribute(name, H5::PredType::STD_I64LE, H5::DataSpace(1, &count))
      .write(H5::PredType::NATIVE_INT64, values.data());
}

// A tensor of 4 x 6 elements in the group of a record, strided like those of old dumpers.
void add_dataset(const H5::Group& group, const char* name, const H5::DataType& type,
                 const H5::DSetCreatPropList& properties) {
  constexpr hsize_t kExtents[] = {4, 6};
  const H5::DataSet dataset =
      group.createDataSet(name, type, H5::DataSpace(2, kExtents), properties);
  set(dataset, "Type", {0});
  set(dataset, "DeviceType", {1});
  set(dataset, "DataType", {1});
  set(dataset, "Stride", {1, 4});
  const std::vector<std::uint8_t> zeros(24 * 8);
  dataset.write(zeros.data(), type);
}

// Features of other writers: chunks, filters, byte orders, enumerations, links, texts, new groups.
void write_others(const fs::path& path, const H5::FileAccPropList& access) {
  H5::H5File file(path.string(), H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access);
  file.createGroup("op");
  file.createGroup("op/007");
  const H5::Group group = file.createGroup("op/007/input");
  H5::DSetCreatPropList properties;
  add_dataset(group, "plain", H5::PredType::IEEE_F32LE, properties);
  add_dataset(group, "big_endian", H5::PredType::STD_I16BE, properties);
  properties.setLayout(H5D_COMPACT);
  add_dataset(group, "compact", H5::PredType::IEEE_F64LE, properties);
  constexpr hsize_t kChunk[] = {2, 3};
  properties.setLayout(H5D_CHUNKED);
  properties.setChunk(2, kChunk);
  properties.setShuffle();
  properties.setDeflate(1);
  properties.setFletcher32();
  add_dataset(group, "chunked", H5::PredType::STD_U32LE, properties);
  H5::EnumType boolean(H5::PredType::NATIVE_INT8);
  std::int8_t value = 0;
  boolean.insert("FALSE", &value);
  value = 1;
  boolean.insert("TRUE", &value);
  add_dataset(group, "boolean", boolean, {});
  add_dataset(group, "text", H5::StrType(H5::PredType::C_S1, 8), {});
  group.link(H5L_TYPE_SOFT, "/op/007/input/plain", "soft");
  group.link(H5L_TYPE_HARD, "/op", "circle");
  H5Lcreate_external("other.h5", "/x", group.getId(), "external", H5P_DEFAULT, H5P_DEFAULT);
  file.createDataSet("stray", H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_SCALAR));
}

void write_truncated(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  fs::resize_file(to, fs::file_size(from) / 2);
}

void write_list(const fs::path& dump, const fs::path& to) {
  DumpFile file(dump);
  const auto bytes = static_cast<std::int64_t>(fs::file_size(dump));
  const std::string list = encode({file.records(), file.strays(), file.problems()});
  std::ofstream(to, std::ios::binary)
      .write(reinterpret_cast<const char*>(&bytes), sizeof bytes)
      .write(list.data(), static_cast<std::streamsize>(list.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const fs::path dumps = argv[1], lists = argv[2];
  fs::create_directories(dumps);
  fs::create_directories(lists);
  write_dump(dumps / "fp32.h5", DType::fp32, {2, 3}, Format::ND);
  write_dump(dumps / "fp16.h5", DType::fp16, {1, 17, 2, 2}, Format::NC1HWC0);
  write_dump(dumps / "bf16.h5", DType::bf16, {}, Format::ND);
  write_dump(dumps / "bool.h5", DType::boolean, {0, 4}, Format::ND);
  H5::FileAccPropList latest;
  latest.setLibverBounds(H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  write_others(dumps / "others.h5", {});
  write_others(dumps / "latest.h5", latest);
  for (const char* name : {"fp32", "fp16", "bf16", "bool", "others", "latest"}) {
    write_list(dumps / (std::string(name) + ".h5"), lists / name);
  }
  write_truncated(dumps / "others.h5", dumps / "truncated.h5");
}
