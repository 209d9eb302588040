// write_dump_seeds DIRECTORY: small dumps for dump_reader_fuzz to start from.

#include <filesystem>
#include <string>
#include <vector>

#include "dump/dump_writer.h"

namespace {

using namespace opbench;

void write_dump(const std::filesystem::path& path, DType dtype, const Dims& shape, Format format) {
  const TensorDesc desc = describe(dtype, shape, format);
  const Tensor zeros(desc);
  DumpWriter writer(path);
  writer.begin_record("SoftplusBackward", DeviceType::npu, {{"case", "softplus[2x3,fp32,ND]"}});
  writer.write_input("self", desc, zeros.data());
  writer.write_input_scalar("beta", 1.0);
  writer.write_input_scalar("flag", true);
  writer.write_output("result", desc, zeros.data());
  writer.begin_record("MulBackward0", DeviceType::cpu);
  writer.write_input("grads/grads_0", desc, zeros.data());
  writer.write_input_scalar("n", std::int64_t{3});
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  write_dump(directory / "fp32.h5", DType::fp32, {2, 3}, Format::ND);
  write_dump(directory / "fp16.h5", DType::fp16, {1, 17, 2, 2}, Format::NC1HWC0);
  write_dump(directory / "bf16.h5", DType::bf16, {}, Format::ND);
  write_dump(directory / "bool.h5", DType::boolean, {0, 4}, Format::ND);
}
