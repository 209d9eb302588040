#include "harness/run/cpu_name.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

// The first processor of an Arm machine in /proc/cpuinfo.
std::string arm(const char* implementer, const char* part, const char* variant = "0x1") {
  return std::string("processor\t: 0\nBogoMIPS\t: 200.00\n") +
         "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp\n" +
         "CPU implementer\t: " + implementer + "\nCPU architecture: 8\nCPU variant\t: " + variant +
         "\nCPU part\t: " + part + "\nCPU revision\t: 0\n\nprocessor\t: 1\nBogoMIPS\t: 200.00\n";
}

}  // namespace

TEST(CpuName, IsTheModelNameOnX86) {
  EXPECT_EQ(cpu_name("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n"
                     "model name\t: Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz\nstepping\t: 4\n"),
            "Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz");
}

TEST(CpuName, NamesArmPartsByTheirNumbers) {
  EXPECT_EQ(cpu_name(arm("0x48", "0xd01")), "HiSilicon Kunpeng 920 r1p0");
  EXPECT_EQ(cpu_name(arm("0x41", "0xd0c", "0x3")), "Arm Neoverse N1 r3p0");
  EXPECT_EQ(cpu_name(arm("0x41", "0xd01")), "Arm CPU 0x41:0xd01 r1p0") << "another implementer";
  EXPECT_EQ(cpu_name(arm("0x48", "0xd99")), "Arm CPU 0x48:0xd99 r1p0");
  EXPECT_NE(cpu_name(arm("0x48", "0xd99")), cpu_name(arm("0x48", "0xd98")));
}

TEST(CpuName, IsUnknownWithoutBoth) {
  EXPECT_EQ(cpu_name(""), "unknown");
  EXPECT_EQ(cpu_name("processor\t: 0\nisa\t\t: rv64imafdc\n"), "unknown");
  EXPECT_EQ(cpu_name("CPU implementer\t: 0x48\nCPU part"), "unknown");
  EXPECT_EQ(cpu_name(arm("0x", "zz")), "unknown");
  EXPECT_EQ(cpu_name("model name\t:\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n"),
            "HiSilicon Kunpeng 920");
}

}  // namespace opbench
