# SPDX-License-Identifier: Apache-2.0
"""A page of `report` as text: tables and lists as lines, of a picture its words and how many shapes it has."""
import collections
import itertools
import re
from xml.etree import ElementTree

MOST_WIDTHS = 16  # of bars; a timeline has more
DOCTYPE = "<!DOCTYPE html>\n<html lang=\"en\""
ELEMENTS = set("""
    html head meta title style body header main footer h1 h2 h3 p b section div table caption thead
    tbody tr th td figure figcaption svg desc g line rect path text circle details summary span pre code
    ol li
""".split())
ATTRIBUTES = set("""
    lang xmlns charset text-anchor name content id class style tabindex role aria-label aria-labelledby
    scope version viewBox d r x y x1 y1 x2 y2 cx cy width height open
""".split())
NUMBERS = set("x y x1 y1 x2 y2 cx cy r width height".split())
PATH = re.compile(r"(M-?[0-9.]+ -?[0-9.]+(h0)?|L-?[0-9.]+ -?[0-9.]+|z|[mlhv][-0-9. ]+)+")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def read_markup(text):
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not well formed: {error}") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def wrong_in_picture(svg, styles):
    left, top, width, height = map(float, svg.get("viewBox").split())
    named = [svg.find(f".//*[@id='{name}']") for name in svg.get("aria-labelledby").split()]
    if svg.get("role") != "img" or [element is not None and element.tag for element in named] != ["title", "desc"]:
        yield "a picture without a name"
    for element in svg.iter():
        yield from (f'{name}="{element.get(name)}"' for name in NUMBERS & set(element.attrib)
                    if not re.fullmatch(r"-?\d+(\.\d)?", element.get(name)))
        yield from (f"no style of .{word}" for word in element.get("class", "plot").split()
                    if not re.search(rf"\.{re.escape(word)}[ {{,]", styles))
        if element.tag == "path" and element.get("d") and not PATH.fullmatch(element.get("d")):
            yield f'd="{element.get("d")}"'
        if element.tag == "text" and not (left <= float(element.get("x")) <= left + width and
                                          top <= float(element.get("y")) <= top + height):
            yield f"outside of its picture: {words(element)}"


def check_page(text):
    """Raises ValueError where a page is not as every page is: it stands alone, and whoever cannot see it can read it.
    Returns its root."""
    root = read_markup(text.removeprefix("<!DOCTYPE html>\n"))
    elements, ids = list(root.iter()), [e.get("id") for e in root.iter() if e.get("id") is not None]
    links = [word for e in elements for word in e.get("aria-labelledby", "").split()]
    levels = [int(e.tag[1]) for e in elements if re.fullmatch("h[1-6]", e.tag)]
    styles = "".join(e.text for e in elements if e.tag == "style")
    wrong = [
        *([] if text.startswith(DOCTYPE) else ["the page begins in another way"]),
        *sorted({e.tag for e in elements} - ELEMENTS),  # nothing is fetched, nothing runs
        *sorted({name for e in elements for name in e.attrib} - ATTRIBUTES),
        *sorted({name for name in ids if ids.count(name) > 1}),
        *sorted(set(links) - set(ids)),
        *[f"h{below} below h{above}" for above, below in zip([0] + levels, levels) if below > above + 1],
        *re.findall(r"@import|url\(", styles),
        *[repr(character) for character in CONTROL.findall(text)],
        *[f"a picture in <{e.tag}>" for e in elements if e.tag != "div" and e.find("svg") is not None],
        *[wrong for e in elements if e.tag == "svg" for wrong in wrong_in_picture(e, styles)],
    ]
    if wrong:
        raise ValueError(f"not in a page: {wrong}")
    return root


def words(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def looks(element, of=""):
    """(look, what is seen, is it a text) of each shape and text of a picture."""
    for child in element:
        look = " ".join(filter(None, (of, child.get("class"))))
        if child.tag == "g":
            yield from looks(child, look)
        elif child.tag == "text":
            whole = child.findtext("title")
            shown = "".join(child.itertext())
            yield look, f'"{shown}"' if whole is None else f'"{shown[len(whole):]}", of "{whole}"', True
        elif child.tag not in ("title", "desc", "style"):
            yield look, child.tag, False
            if child.find("title") is not None:
                yield look, f'tells "{child.findtext("title")}"', True
        elif of and child.tag == "title":
            yield look, f'tells "{child.text}"', True


def picture_id(svg):
    return svg.get("aria-labelledby").split("-title ")[0]


def picture(svg):
    yield f"  picture {picture_id(svg)}"
    yield f"    {svg.findtext('title')}"
    yield f"    {svg.findtext('desc')}"
    seen = list(looks(svg))
    for look, parts in itertools.groupby((part for part in seen if part[2]), lambda part: part[0]):
        texts = [(text, len(list(same))) for text, same in itertools.groupby(part[1] for part in parts)]
        yield f"    {look or '-'}: " + ", ".join(text if count == 1 else f"{text} x{count}" for text, count in texts)
    shapes = collections.Counter(f"{look} {what}".strip() for look, what, is_text in seen if not is_text)
    yield "    " + ", ".join(f"{count} {shape}" for shape, count in shapes.items())
    widths = [bar.get("width") for bar in svg.iter("rect") if bar.get("class") == "span"]
    if 0 < len(widths) <= MOST_WIDTHS:
        yield f"    widths {' '.join(widths)}"


def lines(element):
    """The lines of all that is in an element."""
    look = f"[{element.get('class')}] " if element.get("class") else ""
    if element.get("id") is not None and element.tag != "title":
        yield f"{'open ' if element.get('open') else ''}{element.tag} {element.get('id')}"
    if element.tag in ("h1", "h2", "h3", "figcaption", "caption", "title"):
        yield f"{'#' * int(element.tag[1]) if element.tag[0] == 'h' else element.tag} {words(element)}"
    elif element.tag == "p":
        mark = element.find("b")
        yield f"  {look}" + (f"[{mark.get('class')}] " if mark is not None else "") + words(element)
    elif element.tag == "pre":
        yield from (f"  | {line}" for line in "".join(element.itertext()).rstrip("\n").split("\n"))
    elif element.tag == "tr":
        yield "  " + " | ".join(("#" if "number" in (c.get("class") or "") and c.tag == "th" else "") +
                                "".join(c.itertext()) for c in element)
    elif element.tag == "svg":
        yield from picture(element)
    elif element.tag in ("span", "li"):
        yield f"  {look}{words(element)}"
    elif element.tag != "style":
        if "wide" in (element.get("class") or ""):
            yield f"  {look}{element.get('aria-label')}"
        for child in element:
            yield from lines(child)


def page_text(text, places=()):
    """What is in a page, or only in these places: ids of sections, or what the id of a picture ends with. With `.svg`
    behind it is all that draws the picture."""
    root = check_page(text)
    if not places:
        return "\n".join(lines(root)) + "\n"
    found = []
    for place in places:
        before = len(found)
        for element in root.iter():
            if element.get("id") == place:
                found += lines(element)
            elif element.tag == "svg" and f"-{picture_id(element)}".endswith(f"-{place}"):
                found += picture(element)
        if place.endswith(".svg"):
            named = rf'aria-labelledby="(?:\S*-)?{re.escape(place[:-4])}-title '
            found += re.findall(rf"(?s)<svg [^>]*{named}.*?</svg>", text)
        found += [f"no {place}"] if len(found) == before else []
    return "\n".join(found) + "\n"
