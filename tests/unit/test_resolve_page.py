"""Simple pages: JSON, HTML, listings, links of every kind, and what is no page at all."""

from __future__ import annotations

import json

import pytest

from accel_install.resolve.page import NotAPageError, parse_page

AT = "https://idx.example/v2/gfx942/torch/"


def html(body: str, url: str = AT, project: str = "torch"):
    return parse_page(body.encode(), "text/html", url, project, "default")


LINKS = """<!DOCTYPE html><html><body><base target="_top">
<a href="../torch-2.9.1%2Brocm7.10.0-cp311-cp311-linux_x86_64.whl#sha256={digest}" data-requires-python="&gt;=3.10">x</a><br/>
<a href="/v2/gfx942/torch-2.9.0%2Brocm7.9.0-cp39-cp39-linux_x86_64.whl" data-requires-python="&gt;=3.9,&lt;3.10">x</a>
<a href="other-1.0-py3-none-any.whl">not ours</a> <a href="../">up</a> <a href="?C=M">sort</a>
""".format(digest="ab" * 32)


def test_relative_links_escapes_and_fragments() -> None:
    first, second = html(LINKS).files
    assert first.filename == "torch-2.9.1+rocm7.10.0-cp311-cp311-linux_x86_64.whl"
    assert first.url == "https://idx.example/v2/gfx942/torch-2.9.1%2Brocm7.10.0-cp311-cp311-linux_x86_64.whl"
    assert first.sha256 == "ab" * 32 and first.requires_python == ">=3.10"
    assert second.url.startswith("https://idx.example/v2/gfx942/") and second.sha256 is None


def test_the_first_base_with_href_counts() -> None:
    page = html('<base href="https://files.example/pkgs/x/"><base href="https://wrong.example/">' + LINKS)
    assert page.files[0].url.startswith("https://files.example/pkgs/torch-2.9.1%2B")


def test_yanked_metadata_and_comments() -> None:
    page = html(
        '<a href="torch-1.0-py3-none-any.whl" data-yanked="">x</a><a href=\'torch-1.1-py3-none-any.whl\' data-yanked="bad bug" '
        'data-core-metadata="sha256=aa">x</a><a href=torch-1.2-py3-none-any.whl data-dist-info-metadata=false>x</a>'
        '<!-- <a href="torch-9.9-py3-none-any.whl">hidden</a> -->'
    )
    assert [f.yanked for f in page.files] == ["", "bad bug", None]
    assert [f.has_metadata for f in page.files] == [None, True, False]


def test_json_pages() -> None:
    document = {
        "meta": {"api-version": "1.1"},
        "files": [
            {
                "filename": "torch-2.10.0-py3-none-any.whl",
                "url": "../../f/torch-2.10.0-py3-none-any.whl",
                "hashes": {"sha256": "CD" * 32, "md5": "x"},
                "size": 12,
                "requires-python": None,
                "yanked": "no",
                "core-metadata": {"sha256": "aa"},
            },
            {"filename": "torch-2.9.0.tar.gz", "url": "torch-2.9.0.tar.gz", "hashes": {}, "yanked": False},
            {"filename": 3}, "noise",
        ],
    }  # fmt: skip
    first, second = parse_page(json.dumps(document).encode(), "application/json", AT, "Torch", "i").files
    assert first.url == "https://idx.example/v2/f/torch-2.10.0-py3-none-any.whl" and first.sha256 == "cd" * 32
    assert (first.size_bytes, first.yanked, first.has_metadata) == (12, "no", True)
    assert (second.size_bytes, second.yanked, second.has_metadata) == (None, None, None)


def test_a_listing_of_a_web_server_is_read_as_links() -> None:
    body = (
        "<html><head><title>Index of /wheels/</title></head><body><h1>Index of /wheels/</h1><hr><pre>"
        '<a href="../">../</a>\n<a href="torch-2.9.0%2Bdas.opt1.dtk2604-cp311-cp311-manylinux_2_28_x86_64.whl">'
        "torch-2.9.0+da..&gt;</a>"
        " 01-Dec-2026 10:00  1234\n</pre></body></html>"
    )
    assert [f.filename for f in html(body).files] == ["torch-2.9.0+das.opt1.dtk2604-cp311-cp311-manylinux_2_28_x86_64.whl"]


def test_the_digest_is_of_the_listing_not_of_its_order() -> None:
    one = html('<a href="torch-1.0-py3-none-any.whl">a</a><a href="torch-1.1-py3-none-any.whl">a</a>')
    two = html('<a href="torch-1.1-py3-none-any.whl">a</a>\n<a href="torch-1.0-py3-none-any.whl">a</a>')
    yanked = html('<a href="torch-1.1-py3-none-any.whl" data-yanked>a</a>\n<a href="torch-1.0-py3-none-any.whl">a</a>')
    assert one.digest == two.digest != yanked.digest


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04 not a page", ""),
        (b"{", "application/json"),
        (b'{"files": 3}', "application/json"),
        (b"just text", "text/plain"),
    ],
)
def test_what_is_no_page_is_said_to_be_none(content: bytes, kind: str) -> None:
    with pytest.raises(NotAPageError):
        parse_page(content, kind, AT, "torch", "i")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe<html>\x00<a href='torch-1-py3-none-any.whl'>", b"<html>" + b"<a href=" * 20000, b"<a " + b"<" * 90000]
)
def test_hostile_pages_do_not_raise(content: bytes) -> None:
    try:
        page = parse_page(content, "text/html", AT, "torch", "i")
    except NotAPageError:
        return
    assert all("torch" in f.filename for f in page.files)


def test_a_hundred_thousand_links_are_read() -> None:
    body = "<html>" + "".join(f'<a href="torch-1.{n}-py3-none-any.whl">x</a>' for n in range(100_000))
    assert len(html(body).files) == 100_000


def test_deep_json_is_no_page() -> None:
    with pytest.raises(NotAPageError):
        parse_page(b"[" * 200_000, "application/json", AT, "torch", "i")
