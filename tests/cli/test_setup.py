"""Setting up on a machine without pip: which wheel of pip is taken from the index, and what is refused."""

import hashlib

import pytest

from tools import setup_env

PAGE = """<!DOCTYPE html><html><body>
<a href="../../files/pip-9.0.3-py2.py3-none-any.whl#sha256={a}">pip-9.0.3-py2.py3-none-any.whl</a><br/>
<a href="https://files.example/pip-24.1b1-py3-none-any.whl#sha256={a}">pip-24.1b1-py3-none-any.whl</a>
<a href="https://files.example/pip-9.1-py3-none-any.whl#sha256={a}" data-requires-python="&gt;=3.7">pip-9.1-py3-none-any.whl</a>
<a href="/files/pip-23.10-py3-none-any.whl#sha256={b}" data-requires-python="&gt;=3.7">pip-23.10-py3-none-any.whl</a>
<a href="/files/pip-99.0-py3-none-any.whl#sha256={a}" data-yanked="broken">pip-99.0-py3-none-any.whl</a>
<a href="/files/pip-24.0.tar.gz#sha256={a}">pip-24.0.tar.gz</a>
</body></html>""".format(a="0" * 64, b="1" * 64)


def test_the_newest_release_is_taken():
    """By number, not by text; no pre-release, nothing yanked; relative addresses are those of the page."""
    found = setup_env.newest_pip(PAGE, "https://index.example/simple/pip/")
    assert found == ("pip-23.10-py3-none-any.whl", "https://index.example/files/pip-23.10-py3-none-any.whl", "1" * 64)


def test_an_index_without_pip():
    with pytest.raises(SystemExit, match="no pip is listed at https://index.example/simple/pip/"):
        setup_env.newest_pip("<html></html>", "https://index.example/simple/pip/")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index as files."""

    def make(digest: str) -> None:
        folder = tmp_path / "simple" / "pip"
        folder.mkdir(parents=True)
        (tmp_path / "pip-25.0-py3-none-any.whl").write_bytes(b"a wheel")
        page = f'<a href="../../pip-25.0-py3-none-any.whl#sha256={digest}">pip-25.0-py3-none-any.whl</a>'
        (folder / "index.html").write_text(page)
        opened = setup_env.urllib.request.urlopen

        def open_file(request, timeout=0):
            address = getattr(request, "full_url", request)
            return opened(address + "index.html" if address.endswith("/") else address)

        monkeypatch.setattr(setup_env.urllib.request, "urlopen", open_file)
        monkeypatch.setenv("PIP_INDEX_URL", f"file://{tmp_path}/simple")

    return make


def test_the_wheel_is_fetched_and_its_hash_checked(index, tmp_path):
    index(hashlib.sha256(b"a wheel").hexdigest())
    assert setup_env.fetch_pip(tmp_path).read_bytes() == b"a wheel"


def test_a_damaged_wheel_is_refused(index, tmp_path):
    index("0" * 64)
    with pytest.raises(SystemExit, match="pip-25.0-py3-none-any.whl is damaged"):
        setup_env.fetch_pip(tmp_path)


def test_no_network_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", f"file://{tmp_path}/nowhere")
    with pytest.raises(SystemExit, match="pip cannot be fetched"):
        setup_env.fetch_pip(tmp_path)
