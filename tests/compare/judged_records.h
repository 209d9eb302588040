#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "compare/judge_dump.h"
#include "dump/dump_writer.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// Records that a test writes, and the ruling on each record.
class JudgedRecords : public testing::Test, protected TempDir {
 protected:
  static constexpr const char* kGrads = "grads/grads_0";
  static constexpr const char* kResult = "grad_inputs/grad_inputs_0";

  void begin(const std::string& op, DeviceType device = DeviceType::cuda) {
    writer_.begin_record(op, device);
  }
  void tensor(bool is_input, const std::string& name, DType dtype, const Dims& shape,
              const std::vector<double>& values) {
    Tensor made(describe(dtype, shape));
    from_doubles(dtype, values.data(), std::ssize(values), made.data());
    if (is_input) return writer_.write_input(name, made.desc, made.data());
    writer_.write_output(name, made.desc, made.data());
  }
  void input(const std::string& name, const Dims& shape, const std::vector<double>& values,
             DType dtype = DType::fp32) {
    tensor(true, name, dtype, shape, values);
  }
  void output(const std::string& name, const Dims& shape, const std::vector<double>& values,
              DType dtype = DType::fp32) {
    tensor(false, name, dtype, shape, values);
  }

  void number(const std::string& name, std::int64_t value) {
    writer_.write_input_scalar(name, value);
  }
  void list(const std::string& name, const std::vector<std::int64_t>& values) {
    writer_.write_input_list(name, values);
  }

  std::vector<Ruling> rulings() {
    writer_.finish();
    DumpSource file(path("d.h5"));
    const JudgedDump dump = judge_dump(
        file, OpTable::builtin(), {}, [](std::size_t, std::size_t) {}, [] { return false; });
    std::vector<Ruling> all;
    for (const JudgedRecord& record : dump.records) all.push_back(record.ruling);
    return all;
  }

  // Expects that the first half of all records is correct and the second half is wrong.
  void expect_halves() {
    const std::vector<Ruling> all = rulings();
    std::vector<Ruling> expected(all.size() / 2, Ruling::ok);
    expected.resize(all.size(), Ruling::guilty);
    EXPECT_EQ(all, expected);
  }

  DumpWriter writer_{path("d.h5")};
};

}  // namespace opbench
