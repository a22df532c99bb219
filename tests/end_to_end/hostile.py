"""Files that are not what they say: name, declared type, bytes."""

from tests.end_to_end.kinds_asked import PNG

HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
GIF_WITH_SCRIPT = b"GIF89a<script>alert(1)</script>"
UNTRUE = {
    "HTML as PNG": ("a.png", "image/png", HTML),
    "SVG as PNG": ("a.png", "image/png", SVG),
    "a GIF with a script as PNG": ("a.png", "image/png", GIF_WITH_SCRIPT),
    "a GIF with a script as text": ("a.txt", "text/plain", GIF_WITH_SCRIPT),
    "half a GIF header and a script": ("a.gif", "image/gif", b"GIF8=1;alert(1)//"),
    "JPEG as PNG": ("a.png", "image/png", b"\xff\xd8\xff\xe0JFIF"),
    "PNG as JPEG": ("a.jpg", "image/jpeg", PNG),
    "a PDF with a JPEG head": ("a.pdf", "application/pdf", b"\xff\xd8\xff\xe0%PDF-1.7"),
    "text with a NUL as CSV": ("a.csv", "text/csv", b"a,b\n1,\x002\n"),
    "Latin-1 as text": ("a.txt", "text/plain", "Gruß".encode("latin-1")),
    "PDF as text": ("a.txt", "text/plain", b"%PDF-1.7"),
    "text before a PDF": ("a.pdf", "application/pdf", b"\n%PDF-1.7"),
    "NaN as JSON": ("a.json", "application/json", b"NaN"),
    "HTML as JSON": ("a.json", "application/json", HTML),
}
EMPTY = {
    "nothing as PNG": ("a.png", "image/png", b""),
    "nothing as JSON": ("a.json", "application/json", b""),
}
NOT_TAKEN = {
    "SVG as itself": ("a.svg", "image/svg+xml", SVG),
    "HTML as itself": ("a.html", "text/html", HTML),
    "a type in capitals": ("a.png", "IMAGE/PNG", PNG),
    "a type with a parameter": ("a.png", "image/png; charset=utf-8", PNG),
}
