"""What goes wrong: the file, the disk, the model, the user."""

import os
import re
import resource

import h5py
import pytest
import torch
from conftest import names

from opbench_torch import DumperError, dumper
from opbench_torch.writer import Writer


def leftovers(folder):
    return sorted(os.listdir(folder))


def test_a_file_that_exists_is_kept(tmp_path):
    path = tmp_path / "d.h5"
    path.write_text("mine")
    with pytest.raises(DumperError, match="exists; .*overwrite=True"):
        dumper(path)
    with dumper(path, overwrite=True):
        torch.ones(2).exp()
    assert names(path) == ["exp"]


@pytest.mark.parametrize("path, text", [("no/such/d.h5", "does not exist"), ("d.hdf5", "end in .h5")])
def test_bad_paths_are_refused_at_once(tmp_path, path, text):
    with pytest.raises(DumperError, match=text):
        dumper(tmp_path / path)


def test_a_folder_gets_a_file_named_after_the_time(tmp_path):
    with dumper(tmp_path):
        torch.ones(2).exp()
    assert re.fullmatch(r"\d{8}_\d{6}\.\d{6}\.h5", leftovers(tmp_path)[0])


@pytest.mark.parametrize("options, text", [({"mode": "dumb"}, "'overflow'"), ({"level": "high"}, "'composite'"),
                                           ({"mode": "load"}, "load_path="), ({"load_path": "x.h5"}, "load_path="),
                                           ({"mode": "overflow", "sample": 3}, "whole tensors"), ({"sample": 0}, "1 element"),
                                           ({"mode": "load", "load_path": "absent.h5"}, "cannot be loaded")])
def test_bad_options_are_refused(tmp_path, options, text):
    with pytest.raises(DumperError, match=text):
        dumper(tmp_path / "d.h5", **options)


def test_dumpers_do_not_nest(tmp_path):
    with dumper(tmp_path / "a.h5"):
        with pytest.raises(DumperError, match="one dumper at a time"):
            with dumper(tmp_path / "b.h5"):
                pass
        torch.ones(2).exp()
    assert names(tmp_path / "a.h5") == ["exp"]
    with dumper(tmp_path / "b.h5"):
        torch.ones(2).exp()


def test_nothing_recorded_leaves_no_file(tmp_path):
    with dumper(tmp_path / "d.h5") as session:
        pass
    assert session.written is None and leftovers(tmp_path) == []


def test_an_exception_leaves_what_was_complete_marked_so(tmp_path, capsys):
    with pytest.raises(ValueError, match="mine"):
        with dumper(tmp_path / "d.h5"):
            torch.ones(2).exp()
            raise ValueError("mine")
    assert leftovers(tmp_path) == ["d.incomplete.h5"]
    assert names(tmp_path / "d.incomplete.h5") == ["exp"]
    assert h5py.File(tmp_path / "d.incomplete.h5").attrs["opbench_incomplete"] == b"ValueError: mine"
    assert "d.incomplete.h5 contains the operators before ValueError: mine" in capsys.readouterr().err


def test_an_operator_that_fails_leaves_no_record(tmp_path):
    with pytest.raises(RuntimeError):
        with dumper(tmp_path / "d.h5"):
            torch.ones(2).exp()
            torch.ones(2, 3) @ torch.ones(2, 3)
    assert names(tmp_path / "d.incomplete.h5") == ["exp"]


def test_an_incomplete_dump_is_read(tmp_path, opbench):
    with pytest.raises(ValueError):
        with dumper(tmp_path / "d.h5"):
            torch.ones(2).exp()
            raise ValueError("mine")
    assert "/exp/" in opbench("show", tmp_path / "d.incomplete.h5").stdout


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(DumperError, match="nothing was kept. Free space"):
            with dumper(tmp_path / "d.h5"):
                for _ in range(4):
                    torch.ones(1 << 18).exp()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert leftovers(tmp_path) == []


def test_the_queue_is_bounded_and_a_writers_error_frees_it(tmp_path, monkeypatch):
    from opbench_torch import hdf5_file

    monkeypatch.setattr(hdf5_file.Hdf5File, "add", lambda self, record: (_ for _ in ()).throw(OSError("broken")))
    writer = Writer(str(tmp_path / "d.h5"), queue_bytes=1)
    from opbench_torch.layout import Record

    with pytest.raises(DumperError, match="broken"):
        for _ in range(100):
            writer.put(Record("exp", 1, [], [], {}))
        writer.close()
    assert leftovers(tmp_path) == []
