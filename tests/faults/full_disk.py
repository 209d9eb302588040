"""No output fits on the disk: a limit on file sizes, which acts like a full disk, and a real full disk if run as
root."""
import os
import resource
import shutil
import subprocess

from commands import CASE, EXAMPLE, GUILTY, commands, on_a_dump, run_outputs, write_acl_json
from world import bad_end, left_behind


def every_command(world, directory):
    """Tuples (name, arguments, file that cannot be written)."""
    results = world.directory / "in.results.json"
    if not results.exists():
        world.run(["run", "-q", *CASE, "--json", results])
    everything = commands(world, world.fresh("inputs"))
    for flag, path in run_outputs(directory).items():
        yield f"run {flag}", ["run", "-q", *CASE, flag, path], path
    inputs = everything["compare"][2:4]
    for what, (arguments, path) in on_a_dump(inputs[0], directory).items():
        if what == "run --load":
            arguments, path = on_a_dump(EXAMPLE, directory)[what]
        yield what, arguments, path
    yield "minimise -o", ["minimise", "-q", GUILTY, "/softplus/2", "-o", directory / "small"], directory / "small"
    acl_json = write_acl_json(world.fresh("acl_json"), directory / "acl")
    yield "run --acl-json", ["run", "-q", *CASE, "--acl-json", acl_json], directory / "acl"
    yield "compare -o", ["compare", "-q", *inputs, "-o", directory / "cmp"], directory / "cmp"
    yield "check --out", [*everything["check"][:-1], directory / "chk"], directory / "chk"
    for form in ("markdown", "csv", "json", "junit"):
        path = directory / f"report.{form}"
        yield f"report {form}", ["report", results, "--format", form, "-o", path], path


def judge(outcome, directory, path):
    reason = bad_end(outcome)
    wrong = [reason] if reason else []
    if outcome.code != 3:
        wrong.append(f"exit code {outcome.code}")
    if str(path) not in outcome.text():
        wrong.append("the message does not name the file")
    if ".part" in outcome.text():
        wrong.append("the message names the temporary file")
    wrong += left_behind(directory)
    wrong += [f"{file.name} was left" for file in directory.rglob("*") if file.is_file()]
    return wrong


def limited(size):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return set_limit


def every_output(world):
    for size in (0, 100, 700):
        directory = world.fresh("limited")
        for what, arguments, path in every_command(world, directory):
            directory = world.fresh("limited")
            outcome = world.run(arguments, preexec_fn=limited(size))
            wrong = judge(outcome, directory, path)
            yield f"{what}, at most {size} bytes: {'; '.join(wrong)}" if wrong else None
    yield from on_tmpfs(world)


def on_tmpfs(world):
    place = world.directory / "tmpfs"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode != 0:
        return
    try:
        fill = place / "in.fill"
        with open(fill, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        for what, arguments, path in every_command(world, place):
            outcome = world.run(arguments)
            wrong = [text for text in judge(outcome, place, path) if text != "in.fill was left"]
            yield f"{what}, full tmpfs: {'; '.join(wrong)}" if wrong else None
    finally:
        subprocess.run(["umount", str(place)], check=False)
