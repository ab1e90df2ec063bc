"""A real Label Studio on loopback, with a fresh folder, and what its API is asked."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.waiting import LIMIT, until

ADMIN = "admin@example.org"
_LINE = "--a-line-that-no-file-has"


class RefusedError(Exception):
    """What Label Studio says where it takes something not."""


@dataclass(frozen=True)
class Studio:
    url: str
    token: str

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
    ) -> Any:
        data = json.dumps(body).encode() if isinstance(body, list | dict) else body
        headers = {"Authorization": f"Token {self.token}", "Content-Type": kind}
        request = Request(self.url + path, data, headers, method=method)
        try:
            with urlopen(request, timeout=LIMIT) as answer:
                return json.loads(answer.read() or "null")
        except HTTPError as error:
            raise RefusedError(error.read().decode()) from error

    def project(self, config: str) -> int:
        """The number of a new project."""
        asked = {"title": "A project", "label_config": config}
        return self.ask("POST", "/api/projects/", asked)["id"]

    def load(self, project: int, file: Path) -> dict[str, Any]:
        """Import a file as the button does that uploads it."""
        head = f'Content-Disposition: form-data; name="file"; filename="{file.name}"'
        parts = (
            f"--{_LINE}\r\n{head}\r\n\r\n",
            file.read_text(),
            f"\r\n--{_LINE}--\r\n",
        )
        kind = f"multipart/form-data; boundary={_LINE}"
        body = "".join(parts).encode()
        return self.ask("POST", f"/api/projects/{project}/import", body, kind=kind)

    def save(self, project: int, file: Path) -> Path:
        """Export a project whole, as a snapshot with its predictions."""
        asked = {"serialization_options": {"predictions": {"only_id": False}}}
        made = self.ask("POST", f"/api/projects/{project}/exports/", asked)
        assert made["status"] == "completed", made
        where = f"/api/projects/{project}/exports/{made['id']}/download?exportType=JSON"
        file.write_text(json.dumps(self.ask("GET", where)))
        return file


@contextmanager
def started(command: Path, folder: Path) -> Iterator[Studio]:
    """Start the server, wait until it is up, and stop it in any case."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    studio = Studio(f"http://127.0.0.1:{port}", secrets.token_hex(20))
    options = {
        "--data-dir": folder,
        "--internal-host": "127.0.0.1",
        "--port": port,
        "--username": ADMIN,
        "--password": secrets.token_hex(20),
        "--user-token": studio.token,
    }
    words = [str(word) for pair in options.items() for word in pair]
    offline = {"LATEST_VERSION_CHECK": "false", "COLLECT_ANALYTICS": "false"}
    log = folder / "log.txt"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [command, "start", "--no-browser", "--enable-legacy-api-token", *words],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **offline},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(studio, server, log)
        yield studio
    finally:
        server.terminate()
        try:
            server.wait(LIMIT)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait(studio: Studio, server: subprocess.Popen[bytes], log: Path) -> None:
    def up() -> bool:
        if server.poll() is not None:
            said = log.read_text(errors="replace")[-2000:]
            raise AssertionError(f"Label Studio has ended:\n{said}")
        try:
            return bool(studio.ask("GET", "/health") == {"status": "UP"})
        except (OSError, RefusedError):
            return False

    until(up)
    assert studio.ask("GET", "/api/current-user/whoami")["email"] == ADMIN
