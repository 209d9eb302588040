"""opbench_guest, by the lines that opbench writes and reads.

  guest_test.py OPBENCH_GUEST C++_EXAMPLE SOURCE_DIR

The example in C++ is a built library; those in C are compiled here.
"""
import json
import math
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CPP_EXAMPLE, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
del sys.argv[1:4]
X = [-1.0, 0.0, 1.0, 30.0]
IN, OUT, BYTES = 4096, 8192, 65536


class Guest:
    """The program with a shared memory. It ends with the block."""

    def __init__(self, *words, **environment):
        self.memory = os.memfd_create("tensors")
        os.ftruncate(self.memory, BYTES)
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment}, preexec_fn=lambda: os.dup2(self.memory, 3), pass_fds=(3,))

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.kill()
        self.process.communicate()
        os.close(self.memory)

    def say(self, do, **members):
        """Returns the answer; None if the guest ended without one."""
        self.process.stdin.write(json.dumps({"do": do, **members}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def describe(self):
        return self.say("describe", protocol=[1, 0])

    def open(self, attrs=None, kernel=0, dtype="fp32", memory=BYTES, **changes):
        def tensor(name, at):
            return {"name": name, "dtype": dtype, "format": "ND", "shape": [4], "storage": [4], "at": at, **changes}
        os.pwrite(self.memory, struct.pack(f"4{'d' if dtype == 'fp64' else 'f'}", *X), IN)
        return self.say("open", session=7, kernel=kernel, op="softplus", case="softplus[4]", inputs=[tensor("self", IN)],
                        outputs=[tensor("result", OUT)], threads=1, memory=memory,
                        attrs={"beta": 1.0, "threshold": 20.0} if attrs is None else attrs)

    def output(self, letter="f"):
        return struct.unpack(f"4{letter}", os.pread(self.memory, 4 * struct.calcsize(letter), OUT))

    def end(self):
        """Closes the input. Returns the exit code and the standard error."""
        errors = self.process.communicate()[1]
        return self.process.returncode, errors


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def compiled(self, source, name=None, *flags):
        library = self.folder / (name or f"lib{source.stem}.so")
        if not library.exists():
            subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1", f"-I{SOURCE}",
                            *flags, "-o", library, source, "-lm"], check=True)
        return library

    def check_softplus(self, guest, letter="f", **use):
        self.assertEqual(guest.open(**use), {})
        for cold in (False, True):
            self.assertEqual(guest.say("load", session=7, cold=cold), {})
            answer = guest.say("call", session=7)
            self.assertEqual(list(answer), ["seconds"])
            self.assertGreater(answer["seconds"], 0)
        self.assertEqual(guest.say("fetch", session=7), {})
        for found, x in zip(guest.output(letter), X):
            self.assertAlmostEqual(found, math.log1p(math.exp(x)), delta=3e-6)
        self.assertEqual(guest.say("close", session=7), {})
        self.assertEqual(guest.say("call", session=7), {"error": "session 7 is not open"})
        self.assertEqual(guest.end()[0], 0)


class Examples(Libraries):
    def test_in_c(self):
        library = self.compiled(SOURCE / "examples/plugin/softplus.c")
        with Guest(library) as guest:
            described = guest.describe()
            self.assertEqual(described["kernels"], [{
                "op": "softplus", "name": "mine", "summary": "log1p(exp(beta*x))/beta, a loop", "dtypes": ["fp32"],
                "formats": [], "source": str(library)}])
            self.assertEqual([described[key] for key in ["protocol", "device", "device_type", "has_own_memory"]],
                             [[1, 0], "cpu", 1, False])
            self.assertEqual(guest.open(attrs={"beta": -1}), {"refused": "it takes a beta above 0 only"})
            self.check_softplus(guest)

    def test_in_cpp(self):
        with Guest(CPP_EXAMPLE) as guest:
            self.assertEqual([kernel["name"] for kernel in guest.describe()["kernels"]], ["mine_cpp", "mine_fp64"])
            self.assertEqual(guest.open(attrs={"beta": "nan"}), {"error": "beta must be above 0"})
            self.check_softplus(guest, "d", kernel=1, dtype="fp64")

    def test_of_tvm_ffi(self):
        library = self.compiled(SOURCE / "examples/plugin/softplus_tvm.c")
        with Guest(library) as guest:
            self.assertEqual(guest.describe()["kernels"][0]["name"], "softplus_tvm")
            self.assertEqual(guest.open(attrs={"beta": "inf", "name": "text"}), {})
            self.assertEqual(guest.say("call", session=7), {"error": "ValueError: the arguments are x, beta, threshold, y"})
            guest.say("close", session=7)
            self.check_softplus(guest)
        with Guest(library, "softplus=relu") as guest:
            self.assertEqual([(one["op"], one["name"]) for one in guest.describe()["kernels"]], [("relu", "softplus")])
        with Guest(library, "soft=relu") as guest:
            self.assertRegex(guest.describe()["error"], "does not export __tvm_ffi_soft; its functions are softplus")

    @unittest.skipIf(b"__asan_init" in PROGRAM.read_bytes(), "the address sanitizer does not permit RTLD_DEEPBIND")
    def test_of_tvm_ffi_with_its_library(self):
        source = self.folder / "runtime.c"
        source.write_text("""
            #include <stdint.h>
            void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) { (void)kind, (void)message; }
            void TVMFFIErrorMoveFromRaised(void** error) {
              static struct { uint64_t references, type; void* destroy; const char* kind; uint64_t kind_size;
                              const char* message; uint64_t message_size, no_backtrace[2]; }
                  raised = {3, 67, 0, "Real", 4, "library", 7, {0, 0}};
              *error = &raised;
            }""")
        self.compiled(source, "libtvm_ffi.so", "-Wl,-soname,libtvm_ffi.so")
        linked = self.compiled(SOURCE / "examples/plugin/softplus_tvm.c", "liblinked.so", f"-L{self.folder}", "-Wl,--no-as-needed",
                               "-ltvm_ffi")
        with Guest(linked) as guest:
            self.assertRegex(guest.describe()["error"], "liblinked.so: libtvm_ffi.so: cannot open .*; set LD_LIBRARY_PATH")
        with Guest(linked, LD_LIBRARY_PATH=str(self.folder)) as guest:
            guest.describe()
            self.assertEqual(guest.open(attrs={}), {})
            self.assertEqual(guest.say("call", session=7), {"error": "Real: library"})

    def test_of_tvm_ffi_with_every_kind_of_argument(self):
        source = self.folder / "arguments.c"
        source.write_text("""
            #include <stdint.h>
            #include <string.h>
            typedef struct { int32_t type; uint32_t zero; union { int64_t i; double d; const void* p; } v; } Any;
            typedef struct { uint64_t references; int32_t type; void* destroy; const int64_t* data; uint64_t size; } Shape;
            void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** parts, int32_t count);
            int __tvm_ffi__metadata_f(void) { return 0; }
            int __tvm_ffi_no_operator(void) { return 0; }
            int __tvm_ffi_f(void* handle, const Any* a, int32_t count, Any* result) {
              const Shape* shape = a[5].v.p;
              if (handle == 0 && count == 7 && result->type == 0 && a[0].type == 0 && a[1].type == 1 && a[1].v.i == 5 &&
                  a[2].type == 2 && a[2].v.i == 1 && a[3].type == 8 && strcmp(a[3].v.p, "valid") == 0 && a[4].type == 0 &&
                  a[5].type == 69 && shape->type == 69 && shape->size == 2 && shape->data[1] == 8 && a[6].type == 7) return 0;
              const char* parts[] = {"not ", "these"};
              TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 2);
              return -1;
            }""")
        with Guest(self.compiled(source), "f=softplus") as guest:
            self.assertEqual(len(guest.describe()["kernels"]), 1)
            attrs = {"z": 5, "y": True, "x": "valid", "w": None, "v": [7, 8]}
            self.assertEqual(guest.open(attrs=attrs, shape=[0], storage=[0]), {})
            # The output has shape [0] as well, and is passed nevertheless.
            self.assertIn("seconds", guest.say("call", session=7))
            guest.say("close", session=7)
            guest.open(attrs=attrs)
            self.assertEqual(guest.say("call", session=7), {"error": "TypeError: not these"})


class Wrong(Libraries):
    def guest(self, way=""):
        return Guest(self.compiled(pathlib.Path(__file__).parent / "broken.c"), WRONG=way)

    def test_tables_are_refused_with_what_is_allowed(self):
        for way, text in {
                "major": r"it has version 2\.0 of opbench_plugin\.h, allowed: 1\.x",
                "null": r"opbench_plugin\(\) returned NULL",
                "bytes": r"kernel_bytes is 96, allowed in version 1\.0: 104, sizeof",
                "newer bytes": r"kernel_bytes is 96, allowed in version 1\.7: multiples of 8 from 104",
                "many": "kernel_count is 10001, allowed: at most 10000",
                "no kernels": "kernels is NULL, but kernel_count is 1",
                "no op": r"kernels\[0\] has no op",
                "no name": r"kernels\[0\] \(softplus\) has no name",
                "no call": r"kernels\[0\] \(softplus, odd\) has no call"}.items():
            with self.subTest(way), self.guest(way) as guest:
                self.assertRegex(guest.describe()["error"], r"/libbroken\.so: " + text)

    def test_files_are_refused(self):
        empty = self.folder / "empty.c"
        empty.write_text("")
        needs_tvm = self.folder / "needs_tvm.c"
        needs_tvm.write_text("int TVMFFINoSuch(void);\nint __tvm_ffi_relu(void) { return TVMFFINoSuch(); }\n")
        for library, text in {
                self.folder / "none.so": "none.so: cannot open shared object file",
                empty: "empty.c: (file too short|invalid ELF)",
                self.compiled(empty): "exports neither opbench_plugin .* nor a function of TVM-FFI, __tvm_ffi_NAME",
                self.compiled(needs_tvm): "undefined symbol: TVMFFINoSuch, a function of TVM-FFI; set LD_PRELOAD"}.items():
            with self.subTest(library), Guest(library) as guest:
                self.assertRegex(guest.describe()["error"], text)
        with Guest(self.folder / "none.so") as guest:
            self.assertRegex(guest.say("describe", protocol=[2, 0])["error"], r"version 2\.x, allowed: 1\.x")
            self.assertRegex(guest.say("fly")["error"], "'fly' is unknown; one of describe, open")

    def test_a_newer_minor_version_is_read(self):
        with self.guest("newer") as guest:
            self.assertEqual(guest.describe()["kernels"][0]["dtypes"], ["fp32", "fp16"])

    def test_failures_are_explained(self):
        for way, text in {"call": "the kernel explains", "unexplained": "call returned 5"}.items():
            with self.subTest(way), self.guest(way) as guest:
                guest.describe()
                self.assertEqual(guest.open(), {})
                self.assertEqual(guest.say("call", session=7), {"error": text})
        with self.guest("prepare") as guest:
            guest.describe()
            self.assertEqual(guest.open(), {"error": "the kernel explains"})
            self.assertRegex(guest.open(kernel=1)["error"], "kernel 1 does not exist; the library has 1")
            self.assertRegex(guest.open(dtype="fp99")["error"], "dtype 'fp99' is unknown; one of fp64, fp32")
            self.assertRegex(guest.open(storage=[1 << 20])["error"], "tensor self ends after the shared memory")
            self.assertRegex(guest.open(memory=2 * BYTES)["error"], "descriptor 3 is not a shared memory of 131072 bytes")

    def test_prints_threads_and_device_times_are_reported(self):
        with self.guest("thread") as guest:
            guest.describe()
            guest.open()
            first = guest.say("call", session=7)
            guest.say("load", session=7, cold=True)
            second = guest.say("call", session=7)
            self.assertEqual((first["note"], first["device_seconds"]), ("leaves 1 thread behind", 0.25))
            self.assertNotIn("note", second)
            self.assertEqual(guest.output()[0], X[0] + 1)  # evicted once, for the cold call
            self.assertEqual(guest.end(), (0, "a line of the kernel\n" * 2))

    def test_exit_is_an_answer_and_a_crash_is_an_end(self):
        with self.guest("exit") as guest:
            guest.describe()
            guest.open()
            self.assertEqual(guest.say("call", session=7), {"error": "the library called exit(3)"})
        with self.guest("crash") as guest:
            guest.describe()
            guest.open()
            self.assertIsNone(guest.say("call", session=7))
            self.assertNotEqual(guest.end()[0], 0)

    def test_memory_is_limited(self):
        with self.guest() as guest:
            guest.describe()
            soft, hard = resource.prlimit(guest.process.pid, resource.RLIMIT_DATA)
            self.assertEqual(soft, hard)
            self.assertNotEqual(soft, resource.RLIM_INFINITY)

    def test_a_library_does_not_read_the_messages(self):
        with self.guest("reads") as guest:
            guest.describe()
            guest.open()
            self.assertIn("seconds", guest.say("call", session=7))

    def test_memory_grows_while_sessions_are_open(self):
        with self.guest() as guest:
            guest.describe()
            guest.open()
            os.ftruncate(guest.memory, 1 << 20)
            self.assertRegex(guest.open(memory=1 << 20)["error"], "session 7 is open")
            self.assertIn("seconds", guest.say("call", session=7))
            self.assertEqual(guest.output()[0], X[0])

    def test_usage(self):
        for words in ([], ["--help"], ["lib.so", "softplus="]):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: opbench_guest LIBRARY", done.stderr)


if __name__ == "__main__":
    unittest.main()
