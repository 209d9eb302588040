"""The example in OpenCL under opbench. Times of PoCL on a loaded machine mean nothing and are not compared.

  opencl_test.py OPBENCH LIBRARY
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
del sys.argv[1:3]


class OpenCl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def records(self, cases, variants="opencl", flags=(), **environment):
        """Returns the exit code and the rows by case and variant."""
        results = self.folder / "results.json"
        words = [word for case in cases for word in ("--case", case)]
        done = subprocess.run(
            [PROGRAM, "--kernels", LIBRARY, *words, "--variant", variants, "--time", "0.001", "--json", results, *flags],
            capture_output=True, text=True,
            env={**os.environ, "POCL_CACHE_DIR": str(self.folder), "HOME": str(self.folder), **environment})
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        rows = json.loads(results.read_text())["records"]
        return done.returncode, {(row["case"].split(",beta")[0], row["variant"]): row for row in rows}

    def test_results_are_correct_and_timed_by_events(self):
        cases = ["softplus[3x5,fp32,ND", "softplus[2x16x7x7,fp16,NCHW", "add[3x5,3x5,fp16,ND]",
                 "channel_shuffle[2x16x7x7,fp16,NCHW,groups=4]"]
        broadcast = "add[3x5,5,fp32,ND]"
        code, rows = self.records([case if case.endswith("]") else case + "]" for case in [*cases, broadcast]])
        for case in cases:
            with self.subTest(case):
                row = rows[case, "opencl"]
                self.assertEqual(row["status"], "passed", row["reason"] +
                                 " (Debian's package pocl-opencl-icd is an OpenCL platform for this test)")
                self.assertGreater(row["median_us"], 0)
        # A case whose calls were all disturbed is timed by opbench's clock.
        self.assertTrue(any("launched in" in rows[case, "opencl"]["reason"] for case in cases))
        self.assertEqual(code, 0)
        self.assertEqual([rows[broadcast, "opencl"][key] for key in ("status", "reason")], ["skipped", "it does not broadcast"])

    def test_failures_are_a_line_and_the_run_goes_on(self):
        for reason, environment in {
                "OpenCL has no platform with a device; .*pocl-opencl-icd.*": {"OCL_ICD_VENDORS": "/nonexistent"},
                r"clBuildProgram: [^\n]*error[^\n]*: OpenCL error -11": {"POCL_EXTRA_BUILD_FLAGS": "-Dsoftplus=5"}}.items():
            with self.subTest(reason):
                code, rows = self.records(["softplus[3x5,fp32,ND]"], "native,opencl", **environment)
                self.assertEqual([code, rows["softplus[3x5,fp32,ND", "native"]["status"]], [3, "passed"])
                failed = rows["softplus[3x5,fp32,ND", "opencl"]
                self.assertEqual(failed["status"], "errored")
                self.assertRegex(failed["reason"], f"^libopbench_example_opencl.so: {reason}$")
                self.assertNotRegex(failed["reason"], r"\n|\\x")

    def test_caches_of_the_device_are_emptied(self):
        row = self.records(["add[3x5,3x5,fp32,ND]"], flags=["--cold"])[1]["add[3x5,3x5,fp32,ND]", "opencl"]
        self.assertEqual([row["status"], row["cold"]], ["passed", True], row["reason"])


if __name__ == "__main__":
    unittest.main()
