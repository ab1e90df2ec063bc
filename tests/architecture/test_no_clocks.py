"""No test depends on how fast a machine is: limits are those of `tests.waiting`."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
#: Short limits, and time that is measured. (`made.wait(3)` waits for three decisions;
#: that Hypothesis has no deadline is said in tests/conftest.py.)
CLOCKS = re.compile(
    r"timeout=[\d.]|(?<!made)(?<!guarded)\.(wait|join|poll)\([\d.]+\)|wait_for_timeout"
    r"|set_default_timeout|deadline=|perf_counter|process_time|monotonic\(|time\.time\("
)
#: They set the limits for all others.
OWN = "architecture/test_no_clocks.py"
MAY = {"waiting.py", "conftest.py", "fuzz/__main__.py", OWN}


def test_no_test_looks_at_a_clock():
    found = [
        f"{path.relative_to(TESTS)}, line {number}: {line.strip()}"
        for path in sorted(TESTS.rglob("*.py"))
        if str(path.relative_to(TESTS)) not in MAY
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if CLOCKS.search(line)
    ]
    assert not found, "wait for what happens, with tests.waiting:\n" + "\n".join(found)
