"""Which index is the default, by whose word; named ones; what is refused; how pages are fetched and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_install.errors import IndexUnavailableError, UsageError
from accel_install.fetch.responses import HttpResponse
from accel_install.recipe.models import IndexSpec
from accel_install.resolve.client import IndexClient
from accel_install.resolve.indexes import IndexConfig, discover_indexes

RECIPE = {"default": IndexSpec(), "ascend": IndexSpec(url="https://vendor.example/pypi")}


def discover(home: Path, *options: str, environ: dict[str, str] | None = None, **more):
    return discover_indexes(RECIPE, options, environ=environ or {}, home=home, cache_dir=home / "cache", **more)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_order_of_who_says_the_default(tmp_path: Path) -> None:
    uv_file = write(tmp_path / ".config/uv/uv.toml", '[[index]]\nurl = "https://uv-file.example/s"\ndefault = true\n')
    write(tmp_path / ".config/pip/pip.conf", "[global]\nindex-url = https://pip-file.example/s\n")
    env = {"UV_DEFAULT_INDEX": "name=https://uv-env.example/s", "PIP_INDEX_URL": "https://pip-env.example/s"}
    option = discover(tmp_path, "default=https://option.example/s", environ=env, configured_default="https://conf.example/s")
    assert option.default_url == "https://option.example/s/"
    assert discover(tmp_path, environ=env, configured_default="https://conf.example/s").default_url == "https://conf.example/s/"
    assert discover(tmp_path, environ=env).default_url == "https://uv-env.example/s/"
    assert discover(tmp_path, environ={"PIP_INDEX_URL": env["PIP_INDEX_URL"]}).default_url == "https://uv-file.example/s/"
    uv_file.unlink()
    assert discover(tmp_path, environ={"PIP_INDEX_URL": env["PIP_INDEX_URL"]}).default_url == "https://pip-env.example/s/"
    by_file = discover(tmp_path)
    assert by_file.default_url == "https://pip-file.example/s/" and "pip" in by_file.default_origin


def test_uv_itself_is_asked_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = discover(tmp_path, environ={"PIP_CONFIG_FILE": "/dev/null", "XDG_CONFIG_HOME": str(tmp_path)})
    if found.default_origin == "uv's own default":
        assert found.default_url.startswith("https://") and found.default_url.endswith("/simple/")
        assert list((tmp_path / "cache/uv-default").iterdir())


def test_pips_extra_indexes_are_reported_and_not_used(tmp_path: Path) -> None:
    env = {"PIP_INDEX_URL": "https://a.example/s", "PIP_EXTRA_INDEX_URL": "https://extra.example/s"}
    found = discover(tmp_path, environ=env)
    assert any("extra-index-url" in note for note in found.notes)
    assert "extra.example" not in str(found.named) + found.default_url


def test_named_indexes_come_from_the_recipe_and_are_replaced(tmp_path: Path) -> None:
    assert discover(tmp_path, "default=https://d.example").url_of("ascend") == "https://vendor.example/pypi"
    mirror = discover(tmp_path, "default=https://d.example", "ascend=https://mirror.example/x")
    assert mirror.url_of("ascend") == "https://mirror.example/x" and mirror.url_of("other") is None


@pytest.mark.parametrize("option", ["nonsense", "=https://x.example", "a=", "a b=https://x.example", "x=no-such-folder"])
def test_bad_options_are_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError):
        discover(tmp_path, option)


class FakeHttp:
    def __init__(self, answers: dict[str, HttpResponse | Exception]) -> None:
        self.answers, self.asked = answers, []

    def get(self, url: str, headers: dict[str, str] | None = None) -> HttpResponse:
        self.asked.append(url)
        answer = self.answers.get(url, HttpResponse(404, {}, b"", url))
        if isinstance(answer, Exception):
            raise answer
        return answer


PAGE = b'<html><a href="torch-1.0-py3-none-any.whl">x</a></html>'
URL = "https://d.example/simple/torch/"


def client(tmp_path: Path, http: FakeHttp, **more) -> IndexClient:
    return IndexClient(IndexConfig("https://d.example/simple/", "test"), http, tmp_path, **more)


def test_a_page_is_fetched_once_within_its_time(tmp_path: Path) -> None:
    http = FakeHttp({URL: HttpResponse(200, {"content-type": "text/html"}, PAGE, URL)})
    first = client(tmp_path, http).page("default", "Torch")
    again = client(tmp_path, http).page("default", "torch")
    assert first == again and len(http.asked) == 1
    client(tmp_path, http, refresh=True).page("default", "torch")
    client(tmp_path, http, cache_ttl_s=-1).page("default", "torch")
    assert len(http.asked) == 3


def test_links_are_relative_to_the_final_address(tmp_path: Path) -> None:
    moved = "https://other.example/deep/torch/"
    http = FakeHttp({URL: HttpResponse(200, {"content-type": "text/html"}, PAGE, moved)})
    page = client(tmp_path, http).page("default", "torch")
    assert page is not None and page.files[0].url == moved + "torch-1.0-py3-none-any.whl"


def test_not_found_is_none_and_the_rest_is_an_error(tmp_path: Path) -> None:
    assert client(tmp_path, FakeHttp({})).page("default", "torch") is None
    for answer, slug in (
        (HttpResponse(503, {}, b"", URL), "index.unreachable"),
        (HttpResponse(200, {"content-type": "text/plain"}, b"hello", URL), "index.not-a-page"),
        (IndexUnavailableError("network.unreachable", "no answer"), "index.unreachable"),
    ):
        with pytest.raises(IndexUnavailableError) as caught:
            client(tmp_path / slug, FakeHttp({URL: answer})).page("default", "torch")
        assert caught.value.slug == slug and "default" in caught.value.message


def test_offline_takes_any_age_and_names_what_is_missing(tmp_path: Path) -> None:
    http = FakeHttp({URL: HttpResponse(200, {"content-type": "text/html"}, PAGE, URL)})
    client(tmp_path, http).page("default", "torch")
    offline = client(tmp_path, FakeHttp({}), offline=True, cache_ttl_s=-1)
    assert offline.page("default", "torch") is not None
    with pytest.raises(IndexUnavailableError) as caught:
        offline.page("default", "numpy")
    assert caught.value.slug == "index.offline-missing" and "numpy" in caught.value.message


def test_a_damaged_cache_is_a_miss(tmp_path: Path) -> None:
    http = FakeHttp({URL: HttpResponse(200, {"content-type": "text/html"}, PAGE, URL)})
    client(tmp_path, http).page("default", "torch")
    for kept in (tmp_path / "pages").iterdir():
        kept.write_text("{ damaged")
    assert client(tmp_path, http).page("default", "torch") is not None
    assert len(http.asked) == 2


def test_folders_as_indexes_and_links(tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    write(folder / "torch-1.0-py3-none-any.whl", "not really a wheel")
    write(folder / "other-1.0-py3-none-any.whl", "x")
    config = IndexConfig(folder.as_uri() + "/", "test", find_links=(str(folder),))
    made = IndexClient(config, FakeHttp({}), tmp_path)
    page = made.page("default", "torch")
    assert page is not None and [f.filename for f in page.files] == ["torch-1.0-py3-none-any.whl"]
    assert page.files[0].size_bytes == 18 and len(page.files[0].sha256 or "") == 64
    assert [label for label, _ in made.find_links_files("torch")] == ["find-links"]
    assert made.page("default", "absent") is None


class Conditional:
    """An index with validators: it answers 304 to whoever has its page."""

    def __init__(self) -> None:
        self.sent: list[dict[str, str]] = []

    def get(self, url: str, headers: dict[str, str] | None = None) -> HttpResponse:
        self.sent.append(dict(headers or {}))
        if (headers or {}).get("if-none-match") == '"v1"':
            return HttpResponse(304, {}, b"", url)
        return HttpResponse(200, {"content-type": "text/html", "etag": '"v1"'}, PAGE, url)


def conditional(tmp_path: Path, http: Conditional, **more) -> IndexClient:
    return IndexClient(IndexConfig("https://d.example/simple/", "test"), http, tmp_path, **more)


def test_after_its_time_a_page_is_asked_for_conditionally(tmp_path: Path) -> None:
    http = Conditional()
    first = conditional(tmp_path, http, cache_ttl_s=-1).page("default", "torch")
    second = conditional(tmp_path, http, cache_ttl_s=-1).page("default", "torch")
    third = conditional(tmp_path, http, cache_ttl_s=-1).page("default", "torch")
    assert first == second == third and first is not None and first.files
    assert [h.get("if-none-match") for h in http.sent] == [None, '"v1"', '"v1"']
    conditional(tmp_path, http).page("default", "torch")
    assert len(http.sent) == 3  # a 304 makes the page young again
    conditional(tmp_path, http, refresh=True).page("default", "torch")
    assert "if-none-match" not in http.sent[3]


@pytest.mark.parametrize(("status", "slug"), [(401, "index.forbidden"), (403, "index.forbidden"), (500, "index.unreachable")])
def test_forbidden_and_out_of_reach_are_told_apart(tmp_path: Path, status: int, slug: str) -> None:
    http = FakeHttp({URL: HttpResponse(status, {}, b"", URL)})
    with pytest.raises(IndexUnavailableError) as caught:
        client(tmp_path, http).page("default", "torch")
    assert caught.value.slug == slug


def test_an_index_that_keeps_names_as_written_is_understood(tmp_path: Path) -> None:
    url = "https://d.example/simple/torch_npu/"
    page = b'<!DOCTYPE html><a href="torch_npu-1.0-py3-none-any.whl">x</a>'
    found = client(tmp_path, FakeHttp({url: HttpResponse(200, {"content-type": "text/html"}, page, url)})).page(
        "default", "Torch.NPU"
    )
    assert found is not None and found.files[0].url == url + "torch_npu-1.0-py3-none-any.whl"


def test_a_flat_page_is_read_once_for_all_projects(tmp_path: Path) -> None:
    link = "https://f.example/files/"
    page = b'<html><a href="a-1.0-py3-none-any.whl">a</a><a href="b-1.0-py3-none-any.whl">b</a>'
    http = FakeHttp({link: HttpResponse(200, {"content-type": "text/html"}, page, link)})
    reader = IndexClient(IndexConfig("https://d.example/", "test", {}, (link,)), http, tmp_path)
    assert [f.filename[0] for name in ("a", "b", "c") for _, f in reader.find_links_files(name)] == ["a", "b"]
    assert http.asked == [link]
