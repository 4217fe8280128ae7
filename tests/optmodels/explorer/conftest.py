"""A small file of people, a front of it, and an explorer that serves both."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from formulations import MoObam
from optmodels import front_folder
from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace
from optmodels.table.roles import Roles
from solvers import pareto

# Names and values that break pages which take data for markup, and tables which take it for formulas.
HOSTILE = "<script>document.title='owned'</script>"
RIGHT_TO_LEFT = "עיר\u202egnp.exe"
FORMULA = "=HYPERLINK(1)"
LONG = "z" * 400


def people(n: int = 18) -> pd.DataFrame:
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": draw.integers(18, 90, n),
            HOSTILE: draw.choice(["Bonn", RIGHT_TO_LEFT, FORMULA], n),
            "illness": draw.permutation(np.resize(["flu", "<img src=x onerror=alert(1)>", LONG], n)),
        }
    )


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an exact front of hostile people."""
    place = tmp_path_factory.mktemp("explorer")
    data = place / "people.csv"
    people().to_csv(data, index=False)
    roles = Roles(
        quasi={"age": "numeric", HOSTILE: "categorical"}, sensitive="illness", identifiers="name", scaling="standard"
    )
    table = front_folder.table_of(str(data), roles)
    front = pareto(MoObam(k=3).build(table), solver="epsilon")
    front_folder.save(front, front_folder.source_of(str(data), 0), table.roles, place / "front")
    return place / "front"


@dataclass
class Client:
    """Someone who asks, with or without the right headers."""

    explorer: Explorer

    def ask(
        self,
        path: str,
        body: object = None,
        *,
        headers: dict[str, str] | None = None,
        token: str | None = None,
        method: str | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        gate = self.explorer.gate
        connection = HTTPConnection("127.0.0.1", gate.port, timeout=60)
        sent = {"Host": f"127.0.0.1:{gate.port}", **(headers or {})}
        text = None if body is None else json.dumps(body)
        if text is not None:
            sent = {"Content-Type": "application/json", **sent}
        place = f"/{gate.token if token is None else token}/{path}"
        connection.request(method or ("GET" if text is None else "POST"), place, text, sent)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def json(self, path: str, body: object = None) -> Any:
        status, _, text = self.ask(path, body)
        document = json.loads(text)
        assert status == 200, document
        return document


@pytest.fixture
def client(saved: Path) -> Iterator[Client]:
    explorer = Explorer(Workspace((str(saved),)))
    thread = threading.Thread(target=explorer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield Client(explorer)
    explorer.shutdown()
    explorer.server_close()
