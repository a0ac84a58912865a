"""Results files: complete, truncated, concatenated, resumed, and on a full disk."""

import errno
import os

import msgspec
import pytest

from harness.backend.interface import Description
from harness.results.lines import FORMAT, Footer, Header, Result
from harness.results.recording import (
    BrokenResults,
    CannotWriteResults,
    NoResults,
    OtherFormat,
    Recorder,
    ResultsInUse,
    read_lines,
    read_run,
)
from harness.suite.cases import Labels


def header(**changes):
    whole = Header(
        FORMAT, "tiny", "d" * 64, 4, 2, 4, "mine", Description("mine", "1"), {}, {}, {}, "2026-01-01T00:00:00+00:00"
    )
    return msgspec.structs.replace(whole, **changes)


def result(case, data_set=0, verdict="passed", **fields):
    return Result(case, data_set, verdict, Labels(op="Add"), **fields)


FOOTER = Footer({"passed": 2}, 0, (), 1.5)


def write(path, *lines, then=b""):
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines) + then)
    return path


def test_lines_are_read_as_written(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    lines = [header(), result("b", 1, error="inf"), result("a", error=0.5, message="ä\n"), result("b", 0), FOOTER]
    with Recorder(path) as recorder:
        for line in lines:
            recorder.write(line)
    assert list(read_lines(path)) == lines
    run = read_run(path)
    assert [(r.case, r.data_set) for r in run.results] == [("a", 0), ("b", 0), ("b", 1)]
    assert run.finished
    assert float(run.results[2].error) == float("inf")


def test_each_line_is_on_disk_at_once(tmp_path):
    with Recorder(tmp_path / "r") as recorder:
        recorder.write(header())
        recorder.write(result("a"))
        assert len(list(read_lines(tmp_path / "r"))) == 2


@pytest.mark.parametrize("cut", [b"{", b'{"kind":"resu', b'{"kind":"result","case":"\xc3'])
def test_a_truncated_last_line_is_ignored(tmp_path, cut):
    run = read_run(write(tmp_path / "r", header(), result("a"), then=cut))
    assert [r.case for r in run.results] == ["a"]
    assert not run.finished


def test_concatenated_shards_are_one_run(tmp_path):
    path = write(tmp_path / "r", header(), result("b"), FOOTER, header(), result("a"), FOOTER)
    run = read_run(path)
    assert ([r.case for r in run.results], run.finished, len(run.headers)) == (["a", "b"], True, 2)
    assert not read_run(write(tmp_path / "s", header(), result("b"), FOOTER, header(), result("a"))).finished


def test_no_data_set_counts_twice(tmp_path):
    path = write(
        tmp_path / "r", header(), result("a"), result("a", verdict="error"), result("a", verdict="not_run"), FOOTER
    )
    assert [r.verdict for r in read_run(path).results] == ["error"]


@pytest.mark.parametrize(
    "change", [{"digest": "e" * 64}, {"backend": "other"}, {"description": Description("mine", "2")}]
)
def test_different_runs_do_not_mix(tmp_path, change):
    with pytest.raises(BrokenResults, match="mixes runs"):
        read_run(write(tmp_path / "r", header(), header(**change)))


def test_files_that_are_no_results(tmp_path):
    with pytest.raises(NoResults, match="There are no results at"):
        read_run(tmp_path / "none")
    with pytest.raises(NoResults, match="cannot be read"):
        read_run(tmp_path)
    with pytest.raises(NoResults, match="no header"):
        read_run(write(tmp_path / "r"))
    broken = write(tmp_path / "s", header(), then=b'{"kind":"verse"}\n{}\n')
    with pytest.raises(BrokenResults, match=r"s:2 is not a result line: Invalid value 'verse'"):
        read_run(broken)


def test_two_runs_do_not_write_one_file(tmp_path):
    with Recorder(tmp_path / "r"), pytest.raises(ResultsInUse, match="Another run is writing"):
        Recorder(tmp_path / "r")
    Recorder(tmp_path / "r").__exit__(None, None, None)


def test_rewrite_replaces_the_file_at_once_and_stays_locked(tmp_path):
    path = write(tmp_path / "r", header(), result("a"), result("b"), FOOTER, then=b"{")
    with Recorder(path) as recorder:
        recorder.rewrite(lambda line: None if isinstance(line, Footer) else line)
        recorder.write(result("c"))
        with pytest.raises(ResultsInUse):
            Recorder(path)
    assert [type(line) for line in read_lines(path)] == [Header, Result, Result, Result]
    assert [file.name for file in tmp_path.iterdir()] == ["r"]


def test_rewrite_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = write(tmp_path / "r", header(), result("a"))
    before = path.read_bytes()
    with Recorder(path) as recorder, pytest.raises(ZeroDivisionError):
        recorder.rewrite(lambda _: 1 // 0)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["r"]


def test_a_full_disk_loses_no_line(tmp_path, monkeypatch):
    path, real = tmp_path / "r", os.write
    with Recorder(path) as recorder:
        recorder.write(header())
        recorder.write(result("a"))
        left = 20

        def full(file, data):
            nonlocal left
            if not left:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = real(file, bytes(data)[:left])
            left -= written
            return written

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(CannotWriteResults, match="No space left on device") as caught:
            recorder.write(result("b"))
        assert "--resume" in caught.value.advice
    assert path.read_bytes().endswith(b"\n")
    assert [type(line) for line in read_lines(path)] == [Header, Result]


def test_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotWriteResults, match="cannot be written"):
        Recorder(tmp_path / "file" / "r")


def test_another_format_is_refused_with_both_versions(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"kind":"header","format":1,"suite":"tiny"}\n{"kind":"result","case":"a","verdict":"silent"}\n')
    with pytest.raises(OtherFormat, match="has format 1; this version reads format 2"):
        list(read_lines(path))
