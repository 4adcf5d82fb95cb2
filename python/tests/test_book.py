"""The Python blocks of the README and the book: those of a page run one after another, in a folder with the data sets that the program carries."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "crates" / "dolmen-papers" / "data"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages():
    found = [ROOT / "README.md", *sorted((ROOT / "book" / "src").rglob("*.md"))]
    return [path for path in found if BLOCK.search(path.read_text())]


def test_there_are_pages_with_python():
    assert len(pages()) > 8


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page, tmp_path, monkeypatch):
    for data in DATA.glob("*.csv"):
        shutil.copy(data, tmp_path)
    monkeypatch.chdir(tmp_path)
    text, names = page.read_text(), {"__name__": "book"}
    for block in BLOCK.finditer(text):
        before = text.count("\n", 0, block.start(1))
        exec(compile("\n" * before + block[1], str(page), "exec"), names)
