from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from optmodels.datasets import DATASETS, Dataset, Source, dataset, download, frame, load, locate
from optmodels.datasets import known as datasets
from optmodels.errors import InputError
from optmodels.table.hierarchy import Hierarchy

CONTENT = b"a,b\n1,2\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def here(known: Dataset) -> bool:
    """Are all files on this machine? Tests never download."""
    try:
        for source in known.sources:
            locate(Source(source.file, source.sha256))
    except InputError:
        return False
    return True


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_with_its_default_roles(name: str) -> None:
    known = dataset(name)
    if not here(known):
        pytest.skip(f"{known.sources[0].file} is in no data folder (OPTMODELS_DATA)")
    table = load(name)
    assert table.n == known.rows
    assert table.quasi == tuple(known.roles.quasi)
    for source in known.sources:
        assert hashlib.sha256(locate(source).read_bytes()).hexdigest() == source.sha256


def test_german_is_bundled() -> None:
    assert dataset("german").bundled
    table = load("german")
    assert len(table.collapse(sensitive=False).rows) == 310
    assert [len(levels) for levels in table.sensitive_levels] == [4, 5]
    assert frame("german")["class"].value_counts().to_dict() == {1: 700, 2: 300}


def test_adult() -> None:
    if not here(dataset("adult")):
        pytest.skip("adult.data is in no data folder (OPTMODELS_DATA)")
    table = load("adult", hierarchies={"age": Hierarchy.intervals(range(100), widths=[10])})
    assert len(table.collapse(sensitive=False).rows) == 1900
    assert sorted(table.frame["salary"].unique()) == ["<=50K", ">50K"]
    assert len(table.sensitive_levels[0]) == 14
    assert table.leaf_codes("age").max() == 90


def test_heart_is_imputed_by_the_mean() -> None:
    if not here(dataset("heart")):
        pytest.skip("heart_cleveland.csv is in no data folder (OPTMODELS_DATA)")
    table = load("heart")
    raw = frame("heart")
    assert table.missing_report["columns"]["ca"] == {"missing": 2, "filled_with": raw["ca"].mean()}
    assert len(table.measured) == 13


def test_roles_may_be_replaced() -> None:
    table = load("german", quasi={"age": "numeric", "duration": "numeric"}, sensitive="job", scaling="range")
    assert table.measured == ("age", "duration")
    assert table.sensitive == ("job",)
    assert table.scaled.max() == 1


def test_unknown_name() -> None:
    with pytest.raises(InputError, match=r"no dataset 'germn'. Did you mean 'german'\?"):
        load("germn")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any data but the bundled one."""
    monkeypatch.delenv("OPTMODELS_DATA", raising=False)
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/here.csv" else 404)
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


def test_download_into_the_cache(nowhere: Path, server: str) -> None:
    source = Source("here.csv", SHA256, f"{server}/here.csv")
    file = locate(source)
    assert file == nowhere / "here.csv"
    assert file.read_bytes() == CONTENT
    assert locate(Source("here.csv", SHA256)) == file


def test_a_file_that_is_not_the_right_one_is_not_kept(nowhere: Path, server: str) -> None:
    with pytest.raises(InputError, match="does not hold the expected file: its SHA-256 is"):
        download(Source("here.csv", "0" * 64, f"{server}/here.csv"), nowhere)
    assert not nowhere.exists()


def test_unreachable_or_absent(nowhere: Path, server: str) -> None:
    with pytest.raises(InputError, match=r"Cannot download .*404.*Put the file 'x.csv' into .*OPTMODELS_DATA"):
        locate(Source("x.csv", SHA256, f"{server}/x.csv"))
    with pytest.raises(InputError, match="Cannot download"):
        locate(Source("x.csv", SHA256, "http://127.0.0.1:1/x.csv"))
    with pytest.raises(InputError, match=r"'census.csv' is not on this machine and has no public address"):
        load("census")


def test_mirror_and_its_liang_folder(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "liang").mkdir()
    (tmp_path / "liang" / "person20.csv").write_text("AGE,SEX,INJ_SEV,DRINKING\n64,2,4,0\n")
    monkeypatch.setenv("OPTMODELS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="1 records instead of 20"):
        frame("person20")


def test_cache_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert datasets.cache_folder() == tmp_path / "optmodels"
