"""Nobody is answered who has not the printed address, on this machine, from the explorer's own page."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace
from tests.optmodels.explorer.conftest import Client


def test_the_page_and_its_parts_come_with_a_policy_that_forbids_anything_else(client: Client) -> None:
    for name in ("", "main.js", "style.css", "api/workspace"):
        status, headers, _ = client.ask(name)
        assert status == 200
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("path", ["", "main.js", "api/workspace", "api/fronts/1", "api/fronts/1/points/0/release.csv"])
@pytest.mark.parametrize("token", ["", "wrong", "undefined", "..", "%00", "a" * 5000])
def test_without_the_token_there_is_nothing(client: Client, path: str, token: str) -> None:
    status, _, body = client.ask(path, token=token)
    assert status == 403
    assert client.explorer.gate.token.encode() not in body
    assert b"illness" not in body


def test_part_of_the_token_is_not_enough(client: Client) -> None:
    token = client.explorer.gate.token
    for given in (token[:-1], token + "x", token.swapcase(), " " + token):
        assert client.ask("api/workspace", token=given.replace(" ", "%20"))[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "0.0.0.0", "", "127.0.0.1:1"])
def test_another_host_is_refused_whatever_name_leads_here(client: Client, host: str) -> None:
    assert client.ask("api/workspace", headers={"Host": host})[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null", "http://127.0.0.1:1", ""])
@pytest.mark.parametrize("body", [None, {"place": "german"}])
def test_another_pages_request_is_refused(client: Client, origin: str, body: object) -> None:
    path = "api/workspace" if body is None else "api/open"
    assert client.ask(path, body, headers={"Origin": origin})[0] == 403
    assert client.ask(path, body, headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert client.ask(path, body, headers={"Sec-Fetch-Site": "same-site"})[0] == 403


def test_its_own_page_is_answered(client: Client) -> None:
    own = f"http://127.0.0.1:{client.explorer.gate.port}"
    assert client.ask("api/workspace", headers={"Origin": own, "Sec-Fetch-Site": "same-origin"})[0] == 200
    local = {"Host": f"localhost:{client.explorer.gate.port}"}
    assert client.ask("api/workspace", headers=local)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "../server.py",
        "..%2fserver.py",
        "%2e%2e/server.py",
        "static/index.html",
        "./main.js/../../server.py",
        "/etc/passwd",
        "//etc/passwd",
        "%2fetc%2fpasswd",
        "main.js%00",
        "api/fronts/1/points/0/..%2f..%2fsource.json",
        "api/fronts/..%2f1",
        "api/fronts/1/points/0/labels.parquet",
        "index.html/",
    ],
)
def test_no_path_leads_out_of_the_page(client: Client, path: str) -> None:
    status, _, body = client.ask(path)
    assert status in (400, 404)
    assert b"root:" not in body
    assert b"import " not in body


def test_requests_are_json_of_a_size_that_is_said(client: Client) -> None:
    assert client.ask("api/open", {"place": "x"}, headers={"Content-Type": "text/plain"})[0] == 415
    assert client.ask("api/open", ["place"])[0] == 400
    assert client.ask("api/open", {"place": "x" * (1 << 20)})[0] == 413
    assert client.ask("api/workspace", method="DELETE")[0] == 501
    assert client.ask("api/nothing")[0] == 404


def test_it_listens_on_this_machines_own_address_alone(client: Client) -> None:
    host, port = client.explorer.server_address[:2]
    assert host == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for other in others:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            assert probe.connect_ex((str(other), port)) != 0 or str(other).startswith("127.")


def test_two_explorers_do_not_see_each_others_data(client: Client, saved: Path) -> None:
    other = Explorer(Workspace())
    threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        theirs = Client(other)
        assert json.loads(theirs.ask("api/workspace")[2])["fronts"] == []
        assert theirs.ask("api/workspace", token=client.explorer.gate.token)[0] == 403
        assert client.ask("api/workspace", token=other.gate.token)[0] == 403
        from_there = {"Origin": f"http://127.0.0.1:{other.gate.port}"}
        assert client.ask("api/workspace", headers=from_there)[0] == 403
    finally:
        other.shutdown()
        other.server_close()
