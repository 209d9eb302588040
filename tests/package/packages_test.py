#!/usr/bin/env python3
"""The packages of tools/make-packages and ./build.sh on machines that are not the one of the build.

  tests/package/packages_test.py SOURCE_DIR BUILD_DIR [CLASS]

A root folder holds a package's files and the libraries of the Debian packages that it depends on. A program that runs there
(chroot) needs no other file. These tests are skipped where unshare or chroot is not permitted.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
del sys.argv[1:3]
GLIBC = re.compile(r"^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv))\.so")
DESCRIBE = '{"do":"describe","protocol":[1,0]}\n'
RUN = ["run", "--case", "relu[8,fp32]", "--time", "0"]


def output_of(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{command}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def in_root(root, *command):
    """The command line that runs `command` with `root` as its root folder."""
    for folder in ["proc", "dev", "tmp"]:
        (root / folder).mkdir(exist_ok=True)
    unshare = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    script = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
    return [*unshare, "sh", "-c", script, root, *command]


def copy_package(name, root):
    """Copies the shared libraries of an installed Debian package to `root`, without those of the packages it depends on."""
    for line in output_of("dpkg-query", "-L", name).splitlines():
        path = pathlib.Path(line)
        if ".so" in path.name and path.is_file() and "/share/" not in line:
            # /lib is a link to /usr/lib, in `root` too.
            target = root / line.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target, follow_symlinks=False)


def dependencies(field):
    """Names of packages in a field `Depends`; of alternatives, those that are installed."""
    for part in re.split(r"[,|]", re.sub(r"\([^)]*\)", "", field)):
        name = part.strip().split(":")[0]
        status = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", name], capture_output=True, text=True)
        if name and "ok installed" in status.stdout:
            yield name


def copy_with_dependencies(field, root):
    todo, done = list(dependencies(field)), set()
    while todo:
        name = todo.pop()
        if name not in done:
            done.add(name)
            copy_package(name, root)
            todo += dependencies(output_of("dpkg-query", "-W", "-f", "${Depends}", name).strip())
    return done


class Packages(unittest.TestCase):
    KIND = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.packages = pathlib.Path(folder.name)
        if cls.KIND:
            output_of(SOURCE / "tools/make-packages", BUILD, cls.packages, cls.KIND)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def new_root(self):
        root = self.folder / "root"
        for name in ["lib", "lib64"]:
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        if subprocess.run(in_root(pathlib.Path("/"), "/bin/true"), capture_output=True).returncode:
            self.skipTest("this user may not run a program in a root folder of its own (unshare --mount, chroot)")
        return root

    def check_program(self, prefix, **options):
        self.assertRegex(output_of(*prefix, "--version", **options), r"^opbench \d+\.\d+\.\d+ ")
        self.assertIn("softplus_v2", output_of(*prefix, "list", "softplus", **options))
        self.assertIn("passed", output_of(*prefix, *RUN, **options))
        # By the name of a case file that is part of the package.
        self.assertIn("softplus[", output_of(*prefix, "--op", "softplus", "--shapes", "resnet.yaml", "--dry-run", **options))


class DebianPackage(Packages):
    KIND = "deb"

    def test_runs_with_what_it_depends_on(self):
        root = self.new_root()
        package = next(self.packages.glob("opbench_*.deb"))
        output_of("dpkg-deb", "-x", package, root)
        copied = copy_with_dependencies(output_of("dpkg-deb", "-f", package, "Depends"), root)
        self.assertIn("libc6", copied)
        self.assertFalse([name for name in copied if name.endswith("-dev")])
        self.check_program(in_root(root, "/usr/bin/opbench"), env={"PATH": os.environ["PATH"]})
        for file in ["man/man1/opbench.1", "bash-completion/completions/opbench", "opbench/cases/resnet.yaml",
                     "opbench/python/opbench_torch/op_table.json", "doc/opbench/LICENSE"]:
            self.assertGreater((root / "usr/share" / file).stat().st_size, 0, file)
        self.assertIn('"error":"./none.so', output_of(*in_root(root, "/usr/bin/opbench_guest", "none.so"), input=DESCRIBE))

    def test_development_package_has_library_and_headers(self):
        package = next(self.packages.glob("libopbench-dev_*.deb"))
        files = output_of("dpkg-deb", "-c", package)
        for file in ["include/opbench/opbench.h", "include/opbench/opbench_plugin.h", "lib/libopbench_library.a", "lib/cmake/opbench/opbench-config.cmake"]:
            self.assertIn(f"./usr/{file}\n", files)
        depends = output_of("dpkg-deb", "-f", package, "Depends")
        build_script = (SOURCE / "build.sh").read_text()
        for name in re.findall(r"\S+-dev\b", re.search(r'^build_packages="(.*?)"', build_script, re.S | re.M)[1]):
            if "openmpi" not in name:
                self.assertIn(name, depends)


class Tarball(Packages):
    KIND = "tar"

    def test_needs_glibc_only(self):
        package = next(self.packages.glob("opbench-*.tar.gz"))
        root = self.folder / "elsewhere"
        root.mkdir()
        output_of("tar", "-xzf", package, "-C", root)
        top = next(root.iterdir())
        for file in [top / "bin/opbench", top / "bin/opbench_guest", *top.glob("lib/*.so*")]:
            # A library finds the others through the program's RPATH.
            lines = output_of("ldd", file, env={"LD_LIBRARY_PATH": str(top / "lib")} if file.parent.name == "lib" else {})
            for name, path in re.findall(r"^\s*(\S+)(?: => (.*?))?(?: \(0x.*\))?$", lines, re.M):
                self.assertTrue(GLIBC.match(pathlib.Path(name).name) or (top / "lib") in pathlib.Path(path).resolve().parents,
                                f"{file}: {name} is {path}")
        self.check_program([top / "bin/opbench"], env={})

    def test_runs_where_only_glibc_is(self):
        package = next(self.packages.glob("opbench-*.tar.gz"))
        root = self.new_root()
        output_of("tar", "-xzf", package, "-C", root, "--one-top-level=opt", "--strip-components=1")
        copy_package("libc6", root)
        program = in_root(root, "/opt/bin/opbench")
        self.check_program(program, env={"PATH": os.environ["PATH"]})
        shutil.copy(SOURCE / "examples/dumps/npu.h5", root)
        self.assertIn("softplus", output_of(*program, "show", "/npu.h5", env={"PATH": os.environ["PATH"]}))


class Wheels(Packages):
    KIND = "wheel"

    def test_install_without_the_network(self):
        venv = self.folder / "venv"
        output_of("/usr/bin/python3", "-m", "venv", venv)
        output_of(venv / "bin/pip", "install", "--no-index", "--no-deps", *self.packages.glob("*.whl"),
                  env={"PIP_DISABLE_PIP_VERSION_CHECK": "1"})
        self.check_program([venv / "bin/opbench"], env={}, cwd=self.folder)
        guest = next(venv.rglob("bin/opbench_guest"))
        self.assertIn('"error":"./none.so', output_of(guest, "none.so", input=DESCRIBE))
        self.assertTrue((guest.parent.parent / "include/opbench/opbench_plugin.h").exists())
        self.assertIn("opbench ", output_of(venv / "bin/python", "-m", "opbench", "--version", env={}))
        # numpy, h5py and torch are not installed here: the message names them.
        script = "import opbench_torch\ntry:\n  opbench_torch.dumper\nexcept opbench_torch.DumperError as error:\n  print(error)"
        self.assertRegex(output_of(venv / "bin/python", "-c", script, env={}, cwd=self.folder),
                         "dumper needs (torch|numpy|h5py), which is not installed: pip install torch numpy h5py")
        # Every file is recorded: pip removes all of them.
        output_of(venv / "bin/pip", "uninstall", "-y", "opbench", "opbench_torch")
        self.assertFalse([path for path in venv.rglob("*opbench*") if path.is_file()])


class BuildScript(Packages):
    def path_with(self, *programs):
        """A folder with these programs only."""
        folder = self.folder / "bin"
        folder.mkdir()
        for program in programs:
            (folder / program).symlink_to(shutil.which(program))
        return {"PATH": str(folder)}

    def failed(self, **options):
        done = subprocess.run([shutil.which("sh"), SOURCE / "build.sh"], capture_output=True, text=True, **options)
        self.assertEqual(done.returncode, 2, done)
        return done.stderr

    def test_without_apt_says_what_is_needed(self):
        text = self.failed(env=self.path_with("dirname"))
        self.assertNotIn("not found", text)
        for part in ["libeigen3-dev", "g++", "Debian", "cmake --preset release", "cmake --build --preset release"]:
            self.assertIn(part, text)

    def test_without_apt_names_only_what_is_missing(self):
        environment = self.path_with("dirname", "grep", "dpkg-query")
        query = self.folder / "bin/dpkg-query"
        query.unlink()
        query.write_text('#!/bin/sh\ncase $* in *libre2-dev) ;; *) echo "install ok installed" ;; esac\n')
        query.chmod(0o755)
        text = self.failed(env=environment)
        self.assertIn("libre2-dev", text)
        self.assertNotIn("libeigen3-dev", text)


if __name__ == "__main__":
    unittest.main()
