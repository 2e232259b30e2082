"""Links of a built site."""

from docs.links import broken


def test_links_that_lead_nowhere_are_named(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">x</a><a href="#top">x</a><h1 id="top"></h1><img src="c.png">'
    )
    (tmp_path / "b.html").write_text(
        '<p id="there"></p><a href="https://elsewhere.org">x</a><a href="a.html#gone">x</a>'
    )
    assert broken(tmp_path) == ["a.html -> c.png", "b.html -> a.html#gone"]
    (tmp_path / "c.png").touch()
    (tmp_path / "b.html").write_text('<p id="there"></p><script src="https://elsewhere.org/x.js"></script>')
    assert broken(tmp_path) == ["b.html loads https://elsewhere.org/x.js"]
