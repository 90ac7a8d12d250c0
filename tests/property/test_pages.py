"""Properties of page parsing: JSON and HTML of one set agree, a well-kept parser agrees, noise never raises."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st
from pypi_simple import ProjectPage

from accel_install.resolve.page import NotAPageError, parse_page

AT = "https://idx.example/simple/pkg/"
VERSIONS = st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}(rc1|\.post2|\+cu128|\+das\.opt1)?", fullmatch=True)
FILES = st.lists(
    st.fixed_dictionaries(
        {
            "version": VERSIONS,
            "sdist": st.booleans(),
            "sha256": st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
            "requires": st.sampled_from([None, ">=3.9", ">=3.9,<3.13", "!=3.9.*"]),
            "yanked": st.sampled_from([None, "", 'a "quoted" & <odd> reason']),
        }
    ),
    max_size=12,
)


def filename(item: dict) -> str:
    return f"pkg-{item['version']}.tar.gz" if item["sdist"] else f"pkg-{item['version']}-py3-none-any.whl"


def as_html(items: list[dict]) -> str:
    lines = []
    for item in items:
        extra = f' data-requires-python="{html.escape(item["requires"])}"' if item["requires"] else ""
        extra += f' data-yanked="{html.escape(item["yanked"])}"' if item["yanked"] is not None else ""
        lines.append(f'<a href="{quote(filename(item))}#sha256={item["sha256"]}"{extra}>{html.escape(filename(item))}</a><br>')
    return "<!DOCTYPE html><html><body>\n" + "\n".join(lines) + "</body></html>"


def as_json(items: list[dict]) -> bytes:
    files = [
        {
            "filename": filename(i),
            "url": quote(filename(i)),
            "hashes": {"sha256": i["sha256"]},
            "requires-python": i["requires"],
            "yanked": False if i["yanked"] is None else (i["yanked"] or True),
        }
        for i in items
    ]
    return json.dumps({"meta": {"api-version": "1.0"}, "name": "pkg", "files": files}).encode()


@given(FILES)
def test_json_and_html_of_one_set_agree(items: list[dict]) -> None:
    one = parse_page(as_html(items).encode(), "text/html", AT, "pkg", "i")
    two = parse_page(as_json(items), "application/vnd.pypi.simple.v1+json", AT, "pkg", "i")
    assert one.files == two.files and one.digest == two.digest


@given(FILES)
def test_a_well_kept_parser_agrees(items: list[dict]) -> None:
    ours = parse_page(as_html(items).encode(), "text/html", AT, "pkg", "i").files
    theirs = ProjectPage.from_html("pkg", as_html(items), AT).packages
    assert [(f.filename, f.requires_python, f.sha256) for f in ours] == [
        (p.filename, p.requires_python, p.digests.get("sha256")) for p in theirs
    ]
    assert [f.url for f in ours] == [p.url.partition("#")[0] for p in theirs]
    assert [f.yanked is not None for f in ours] == [p.is_yanked for p in theirs]


@given(st.binary(max_size=3000), st.sampled_from(["text/html", "application/json", ""]))
def test_noise_never_raises_anything_else(content: bytes, kind: str) -> None:
    try:
        page = parse_page(content, kind, AT, "pkg", "i")
    except NotAPageError:
        return
    assert all(f.filename.lower().startswith("pkg") for f in page.files)


@given(st.text(alphabet="<>ab hre=f\"'/!-&;pkg.whl0123456789", max_size=400))
def test_tag_soup_never_raises(text: str) -> None:
    try:
        parse_page(("<html>" + text).encode(), "text/html", AT, "pkg", "i")
    except NotAPageError:
        raise AssertionError("a page that begins as one is one") from None
