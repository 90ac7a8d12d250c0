"""The bytes of a page as text: the charset that the server or the page names, else UTF-8; never an error."""

from __future__ import annotations

import codecs
import re

__all__ = ["text_of"]

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.I)
_LOOKED_AT_BYTES = 2048
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def text_of(content: bytes, content_type: str) -> str:
    """Decode a page: a byte order mark wins, then the content type, then the page's own `<meta>`, then UTF-8.

    What cannot be decoded is replaced: names of wheels are ASCII, so nothing that matters is lost.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    head = content[:_LOOKED_AT_BYTES].decode("ascii", "replace")
    named = _CHARSET.search(content_type) or _CHARSET.search(head)
    try:
        return content.decode(named.group(1) if named else "utf-8", "replace")
    except (LookupError, UnicodeError, ValueError):
        return content.decode("utf-8", "replace")
