#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tensor/half.h"
#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {
namespace {

using ::testing::ElementsAre;

class DumpRoundTrip : public DumpTest {
 protected:
  // Dumps the tensor as output y of a record and lists the file.
  DumpFile dumped(const TensorDesc& desc, const void* storage, DeviceType device) {
    DumpWriter writer(path());
    writer.begin_record("op", device);
    writer.write_output("y", desc, storage);
    writer.finish();
    return DumpFile(path());
  }

  void expect_same(const TensorDesc& desc, DeviceType device = DeviceType::npu) {
    SCOPED_TRACE(to_string(desc));
    const auto elements = numbered(desc.dtype, desc.elements());
    DumpFile reader = dumped(desc, stored(desc, elements).data(), device);
    ASSERT_EQ(reader.records().size(), 1u);
    const DumpEntry entry = outputs_of(reader.records()[0]).at(0);
    EXPECT_EQ(entry.problem, "");
    EXPECT_EQ(entry.warning, "");
    EXPECT_EQ(entry.desc, describe(desc.dtype, desc.shape));
    EXPECT_EQ(entry.device, device);
    const bool kept = is_private(desc.format) || device == DeviceType::npu;
    EXPECT_EQ(entry.format, kept ? desc.format : Format::NCHW);
    EXPECT_EQ(read_all(reader, entry), elements);
  }
};

TEST_F(DumpRoundTrip, AllDTypesInPlainFormats) {
  for (const DType dtype : kAllDTypes) {
    for (const DeviceType device : {DeviceType::cpu, DeviceType::cuda, DeviceType::npu}) {
      expect_same(describe(dtype, {2, 3, 5, 7}, Format::NCHW), device);
      expect_same(describe(dtype, {17, 31}, Format::ND), device);
    }
  }
}

TEST_F(DumpRoundTrip, PaddingLanesOfNC1HWC0StayOut) {  // padding holds 0xff bytes: NaN
  for (const DType dtype : kAllDTypes) {
    for (const std::int64_t channels : {1, 15, 16, 17, 58}) {
      expect_same(describe(dtype, {2, channels, 3, 5}, Format::NC1HWC0));
    }
    expect_same(describe(dtype, {2, 33, 3, 5}, Format::NC1HWC0), DeviceType::cpu);
  }
}

TEST_F(DumpRoundTrip, ScalarsAndEmptyTensors) {
  for (const DType dtype : kAllDTypes) {
    expect_same(describe(dtype, {}));
    expect_same(describe(dtype, {0}));
    expect_same(describe(dtype, {4, 0, 3}));
    expect_same(describe(dtype, {0, 4, 3, 2}, Format::NC1HWC0));
    expect_same(describe(dtype, {1, 1, 1}));
  }
}

TEST_F(DumpRoundTrip, TensorsOfSeveralTransfers) {  // a transfer carries 256 Ki elements
  expect_same(describe(DType::fp16, {3, 7, 211, 199}, Format::NC1HWC0));
  expect_same(describe(DType::fp32, {3, 17, 101, 103}, Format::NCHW));
  expect_same(describe(DType::bf16, {1, 3, 701, 607}, Format::NC1HWC0));
  expect_same(describe(DType::int64, {600'001}));
  expect_same(describe(DType::boolean, {2, 2, 2, 2, 2, 3, 1, 16'411}));
}

TEST_F(DumpRoundTrip, AnyRangeGivesTheSameElements) {
  const TensorDesc desc = describe(DType::int32, {3, 4, 5, 6});
  const auto elements = numbered(desc.dtype, desc.elements());
  DumpFile reader = dumped(desc, elements.data(), DeviceType::npu);
  const DumpEntry entry = outputs_of(reader.records()[0]).at(0);
  for (std::int64_t first = 0; first <= 360; first += 7) {
    for (const std::int64_t count : {0, 1, 2, 6, 29, 31, 120, 200, 360}) {
      if (first + count > 360) continue;
      std::vector<std::byte> part(static_cast<std::size_t>(count) * 4 + 1);
      reader.read(entry, {first, count}, part.data());
      EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, elements.begin() + first * 4))
          << first << " " << count;
    }
  }
}

TEST_F(DumpRoundTrip, RangesOutsideAreRefused) {
  const TensorDesc desc = describe(DType::int8, {4});
  DumpFile reader = dumped(desc, "abcd", DeviceType::npu);
  const DumpEntry entry = outputs_of(reader.records()[0]).at(0);
  std::int8_t to[8];
  const auto message = [&](std::int64_t first, std::int64_t count) {
    return error_of([&] { reader.read(entry, {first, count}, to); });
  };
  EXPECT_EQ(message(1, 4),
            path().string() + ": /op/1/output/y: elements [1, 1 + 4) are out of range, it has 4");
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{-1, 1},
                                     {0, -1},
                                     {5, 0},
                                     {0, 5},
                                     {1, kMax},
                                     {kMax, 1}}) {
    EXPECT_NE(message(first, count), "(no error)") << first << " " << count;
  }
}

TEST_F(DumpRoundTrip, HalfKeepsItsSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<half> values = {to_half(65504), to_half(-infinity), to_half(5.9604645e-8f),
                                    to_half(-0.0f), to_half(std::nanf(""))};
  const TensorDesc desc = describe(DType::fp16, {5});
  DumpFile reader = dumped(desc, values.data(), DeviceType::cpu);
  const auto read = read_as<half>(reader, outputs_of(reader.records()[0]).at(0));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Eigen::numext::bit_cast<std::uint16_t>(read[i]),
              Eigen::numext::bit_cast<std::uint16_t>(values[i]));
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(read[4])));
}

TEST_F(DumpRoundTrip, ScalarInputsAndNotes) {
  const std::vector<Note> notes = {{"opbench_case", "softplus[2x3,fp16,beta=1]"},
                                   {"opbench_variant", ""},
                                   {"opbench_reason", std::string(50'000, 'x')}};
  DumpWriter writer(path());
  writer.begin_record("softplus", DeviceType::npu, notes);
  writer.write_input_scalar("beta", 0.1);
  writer.write_input_scalar("dim", std::int64_t{-1} << 62);
  writer.write_input_list("stride", std::vector<std::int64_t>{2, -1});
  writer.write_input_scalar("training", true);
  writer.finish();

  DumpFile reader(path());
  const DumpRecord& record = reader.records().at(0);
  EXPECT_THAT(record.notes, ::testing::UnorderedElementsAreArray(notes));
  ASSERT_EQ(inputs_of(record).size(), 4u);
  EXPECT_EQ(inputs_of(record)[0].name, "beta");
  EXPECT_EQ(inputs_of(record)[2].kind, EntryKind::other);
  EXPECT_EQ(inputs_of(record)[2].desc.shape, Dims{2});
  EXPECT_THAT(read_as<std::int64_t>(reader, inputs_of(record)[2]), ElementsAre(2, -1));
  for (const std::size_t scalar : {0, 1, 3}) {
    EXPECT_EQ(inputs_of(record)[scalar].kind, EntryKind::scalar);
  }
  EXPECT_EQ(inputs_of(record)[3].desc.dtype, DType::boolean);
  EXPECT_THAT(read_as<double>(reader, inputs_of(record)[0]), ElementsAre(0.1));
  EXPECT_THAT(read_as<std::int64_t>(reader, inputs_of(record)[1]),
              ElementsAre(std::int64_t{-1} << 62));
  EXPECT_THAT(read_as<std::int8_t>(reader, inputs_of(record)[3]), ElementsAre(1));
}

TEST_F(DumpRoundTrip, RecordsComeByOperatorThenNumber) {  // HDF5's own order is "1" "10" "11" "2"
  const float value = 1;
  DumpWriter writer(path());
  for (int i = 1; i <= 12; ++i) {
    EXPECT_EQ(writer.begin_record(i % 2 == 0 ? "a" : "b", DeviceType::npu), i);
    writer.write_output("y", describe(DType::fp32, {}), &value);
  }
  writer.finish();
  DumpFile reader(path());
  ASSERT_EQ(reader.records().size(), 12u);
  for (int i = 0; i < 12; ++i) {
    const DumpRecord& record = reader.records()[static_cast<std::size_t>(i)];
    EXPECT_EQ(record.op, i < 6 ? "a" : "b");
    EXPECT_EQ(record.seq, i < 6 ? 2 * i + 2 : 2 * (i - 6) + 1);
    EXPECT_TRUE(inputs_of(record).empty());
  }
  EXPECT_TRUE(reader.problems().empty());
}

TEST_F(DumpRoundTrip, EntriesComeByTheBytesOfTheirNames) {
  const float value = 1;
  DumpWriter writer(path());
  writer.begin_record("cat", DeviceType::npu);
  for (const char* name : {"tensors/tensors_0", "tensors/tensors_10", "tensors/tensors_2", "dim"}) {
    writer.write_input(name, describe(DType::fp32, {1}), &value);
  }
  writer.finish();
  DumpFile reader(path());
  std::vector<std::string> names, paths;
  for (const DumpEntry& entry : inputs_of(reader.records().at(0))) {
    names.push_back(entry.name);
    paths.push_back(entry.path);
  }
  EXPECT_THAT(names,
              ElementsAre("dim", "tensors/tensors_0", "tensors/tensors_10", "tensors/tensors_2"));
  EXPECT_EQ(paths[2], "/cat/1/input/tensors/tensors_10");
}

TEST_F(DumpRoundTrip, AFileWithoutRecordsIsEmpty) {
  DumpWriter(path()).finish();
  EXPECT_TRUE(DumpFile(path()).records().empty());
}

}  // namespace
}  // namespace opbench::dump_tests
