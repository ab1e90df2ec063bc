"""Forged requests are refused, and every answer has its headers."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="the extra 'review' is absent")
from starlette.testclient import TestClient

from tagsift.review.app import Site, make_app
from tagsift.review.guard import COOKIE, LARGEST

TOKEN = "secret-token"
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
OWN = "http://127.0.0.1:8765"
ITEMS = "/api/items?reviewer=ann"
PAGE = {"Origin": OWN, "Sec-Fetch-Site": "same-origin"}


def client_of(desk, password: str | None = None, hosts=HOSTS) -> TestClient:
    app = make_app(Site(desk, TOKEN, 8765, password), hosts)
    return TestClient(app, OWN, follow_redirects=False, raise_server_exceptions=False)


@pytest.fixture
def stranger(desk) -> TestClient:
    """A browser that has not been here."""
    return client_of(desk)


@pytest.fixture
def page(desk) -> TestClient:
    """The page: it has the cookie, and says where its requests come from."""
    client = client_of(desk)
    client.cookies.set(COOKIE.format(port=8765), TOKEN)
    client.headers.update(PAGE)
    return client


def body(**more) -> dict:
    told = {"reviewer": "ann", "key": "k" * 10, "item": "0:1-3", "version": 0}
    return told | {"action": "accept", "revision": 0} | more


def test_the_address_lets_in_and_hides_the_token(stranger):
    assert stranger.get("/").status_code == 401
    assert stranger.get("/?token=wrong").status_code == 401
    answer = stranger.get(f"/?token={TOKEN}")
    assert answer.status_code == 303 and answer.headers["location"] == "./"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert stranger.get("/").status_code == 200
    assert stranger.get(ITEMS).status_code == 200


@pytest.mark.parametrize(
    "address",
    ["/api/corpus", ITEMS, "/api/item/0:1-3?reviewer=a", "/api/progress",
     "/api/search?reviewer=a", "/export/decisions", "/export/corpus?format=jsonl",
     f"/api/corpus?token={TOKEN}"],
)  # fmt: skip
def test_without_the_token_there_is_nothing(stranger, address):
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Cookie": "tagsift_8765=x"},
    ):
        answer = stranger.get(address, headers=headers)
        assert answer.status_code == 401 and answer.json()["error"] == "token"
        assert "York" not in answer.text


def test_a_script_may_show_the_token_in_a_header(stranger):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert stranger.get(ITEMS, headers=headers).status_code == 200
    answer = stranger.post("/api/decisions", json=body(), headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example:8765"},
        {"Host": "127.0.0.1.evil.example:8765"},
        {"Host": ""},
    ],
)
def test_other_origins_are_refused_though_the_cookie_is_right(page, desk, headers):
    for answer in (
        page.get(ITEMS, headers=headers),
        page.post("/api/decisions", json=body(), headers=headers),
        page.get("/export/corpus?format=conll", headers=headers),
    ):
        assert answer.status_code == 403 and answer.json()["error"] == "origin"
    assert not list(desk.store.decisions())


@pytest.mark.parametrize("host", ["localhost:9000", "LOCALHOST:8765", "[::1]:8765"])
def test_a_tunnel_may_have_another_port(page, host):
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert page.get(ITEMS, headers=headers).status_code == 200


def test_a_post_says_where_it_comes_from(desk):
    client = client_of(desk)
    client.cookies.set(COOKIE.format(port=8765), TOKEN)
    assert client.post("/api/decisions", json=body()).status_code == 403
    assert client.get(ITEMS).status_code == 200


def test_a_link_from_elsewhere_finds_the_way_in_only(stranger):
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert stranger.get(f"/?token={TOKEN}", headers=headers).status_code == 303
    assert stranger.get("/static/review.js", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"])
def test_methods_that_are_not_known(page, method):
    answer = page.request(method, "/api/decisions")
    assert answer.status_code == 405 and answer.json()["error"] == "method"


def test_a_method_of_another_path(page, desk):
    assert page.get("/api/decisions").status_code == 405
    assert page.get("/api/undo?reviewer=ann").status_code == 405
    assert page.post(ITEMS, json={}).status_code == 405
    assert page.post("/", json={}).status_code == 405
    assert not list(desk.store.decisions())


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", ""]
)
def test_forms_of_other_pages_are_no_json(page, kind):
    """What a browser sends to other pages without asking has one of these types."""
    told = json.dumps(body())
    answer = page.post("/api/decisions", content=told, headers={"Content-Type": kind})
    assert answer.status_code == 415


def test_huge_bodies_are_refused(page, desk):
    answer = page.post("/api/decisions", json=body(note="x" * (LARGEST + 1)))
    assert answer.status_code == 413 and answer.json()["error"] == "large"

    def endless():
        for _ in range(LARGEST // 1024 + 2):
            yield b" " * 1024

    headers = {"Content-Type": "application/json"}
    answer = page.post("/api/decisions", content=endless(), headers=headers)
    assert answer.status_code == 413
    lying = headers | {"Content-Length": "-1"}
    assert page.post("/api/decisions", content=b"{}", headers=lying).status_code == 413
    assert not list(desk.store.decisions())


@pytest.mark.parametrize(
    "address",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/review.js%00.css",
        "/static/",
        "/export/../../etc/passwd",
        "/export/%2e%2e%2freview.db",
        "/export/corpus/",
        "/api/item/..%2f..%2f?reviewer=ann",
        "//etc/passwd",
        "/etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(page, address):
    answer = page.get(address)
    assert answer.status_code in (400, 404), address
    assert "root:" not in answer.text and "import" not in answer.text


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", "conll\0", "llm", "nope"])
def test_an_export_is_of_a_known_format(page, name):
    answer = page.get("/export/corpus", params={"format": name})
    assert answer.status_code == 400 and answer.json()["error"] == "bad"


def test_every_answer_has_the_headers(page, stranger):
    answers = [page.get(path) for path in ("/", "/static/review.js", ITEMS, "/nothing")]
    answers += [stranger.get(ITEMS), stranger.get("/")]
    answers.append(page.get("/export/decisions"))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
        assert float(answer.headers["server-timing"].removeprefix("all;dur=")) >= 0


def test_a_password_lets_in(desk):
    client = client_of(desk, "open sesame", hosts=None)
    client.headers.update({"Origin": OWN})
    assert (
        client.get(f"/?token={TOKEN}").status_code == 401
    )  # the address alone does not
    assert client.get(ITEMS).status_code == 401
    assert "votes.tsv" not in client.get("/").text  # not even the name of the file
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    many = client.post("/login", content="a=1&" * 9999, headers=form)
    assert many.status_code == 401
    wrong = client.post("/login", data={"password": "close sesame"})
    assert wrong.status_code == 401 and "set-cookie" not in wrong.headers
    right = client.post("/login", data={"password": "open sesame"})
    assert right.status_code == 303
    assert client.get(ITEMS).status_code == 200
    assert client.get("/").status_code == 200


def test_passwords_cannot_be_tried_for_long(desk):
    client = client_of(desk, "open sesame", hosts=None)
    client.headers.update({"Origin": OWN})
    codes = [
        client.post("/login", data={"password": str(n)}).status_code for n in range(12)
    ]
    assert codes == [401] * 10 + [429] * 2
    assert client.post("/login", data={"password": "open sesame"}).status_code == 429
    forged = client.post("/login", data={}, headers={"Origin": "http://evil.example"})
    assert forged.status_code == 403


def test_who_logs_out_is_out_and_nobody_else(desk):
    client, name = client_of(desk, "open sesame", hosts=None), COOKIE.format(port=8765)
    client.headers.update({"Origin": OWN})
    cookies = []
    for _ in range(2):
        client.cookies.clear()
        client.post("/login", data={"password": "open sesame"})
        cookies.append(client.cookies[name])
    assert client.get("/logout").status_code == 405
    forged = {"Origin": "http://evil.example"}
    assert client.post("/logout", data={"x": 1}, headers=forged).status_code == 403
    assert client.get(ITEMS).status_code == 200
    assert client.post("/logout", data={"x": 1}).status_code == 303
    assert not client.cookies
    client.cookies.set(name, cookies[1])  # as one who has copied it
    told = client.get(ITEMS)
    assert told.status_code == 401 and told.json()["error"] == "password"
    client.cookies.clear()
    client.cookies.set(name, cookies[0])
    assert client.get(ITEMS).status_code == 200


def test_an_error_at_the_address_of_a_page_is_a_page(desk, monkeypatch):
    """A browser that opens an address says so; scripts get JSON as ever."""

    def broken(*told):
        raise RuntimeError("a secret")

    def shown(client, path, status, sentence, link, **more):
        answer = client.get(path, headers={"Accept": "text/html,*/*", **more})
        assert answer.status_code == status
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert sentence in answer.text and "secret" not in answer.text
        assert ("To the review" in answer.text) == (link == "review")
        assert ("Log in" in answer.text) == (link == "login")
        told = client.get(path, headers=more)
        assert told.status_code == status and told.json()["message"]

    monkeypatch.setattr(desk, "progress", broken)
    own, bare = client_of(desk), client_of(desk)
    own.cookies.set(COOKIE.format(port=8765), TOKEN)
    behind = client_of(desk, "open sesame")
    shown(own, "/nothing/here", 404, "There is nothing here.", "review")
    shown(own, "/static/none", 404, "There is no such file.", "review")
    shown(own, "/export/label-studio", 503, "No fit is done yet", "review")
    shown(own, "/api/undo", 405, "Not by this method.", "review")
    shown(own, "/api/progress", 500, "A fault in tagsift itself", "review")
    shown(own, "/", 403, "not answer to that name", "review", Host="evil.example")
    shown(own, "/login", 404, "There is no password here.", "review")
    for path in ("/", "/?token=wrong", "/nothing"):
        shown(bare, path, 401, "Open the address that the server has printed", None)
    shown(behind, "/export/decisions", 401, "Log in first", "login")
    deep = own.get("/nothing/here", headers={"Accept": "text/html"}).text
    assert 'href="../"' in deep and 'href="../static/review.css"' in deep


def test_a_reload_after_a_wrong_password_asks_again(desk):
    answer = client_of(desk, "open sesame").get("/login")
    assert answer.status_code == 303 and answer.headers["location"] == "./"


def test_without_a_password_there_is_no_login(page):
    data = {"password": ""}
    assert page.post("/login", data=data).status_code == 404
