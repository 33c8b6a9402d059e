"""A header as a page: its comments are the text, its declarations the code, in the order in which it is written."""
import html
import re
from collections import namedtuple

# A place that the search leads to: its anchor, the name that people look for, and what is said there.
Entry = namedtuple("Entry", "anchor name text")


MOST_TEXT = 400  # letters: a comment before many functions is found by its own heading, too


def entry(anchor, name, comment, code):
    return Entry(anchor, name, f"{' '.join(code.split())} {plain(comment)}"[:MOST_TEXT])


def page_of(header):
    return f"api-{header.replace('.hpp', '-cpp').removesuffix('.h')}.html"


def plain(markup):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", markup))).strip()


def anchors(code):
    """Names that a declaration introduces."""
    return re.findall(r"\b(tamis_\w+)\(", code)[:1] + re.findall(r"^typedef (?:struct|enum) (tamis_\w+)", code, re.M) + re.findall(
        r"^#define (TAMIS_\w+)", code, re.M) + re.findall(r"^typedef .*?\b(tamis_\w+)\(", code, re.M)


def pieces(text):
    """The header as (kind, text): 'section', 'comment' or 'code'."""
    text = text[text.index("/*"):]
    for part in re.split(r"(^/\*.*?\*/)", text, flags=re.M | re.S):
        if part.startswith("/* ----"):
            yield "section", re.sub(r"[/*\-\s]+", " ", part).strip()
        elif part.startswith("/*"):
            yield "comment", part
        elif part.strip():
            yield "code", part.strip("\n")


def linked(text, known):
    """Names of functions and types in escaped text become links."""
    return re.sub(r"\b(tamis_\w+)(\(\))?", lambda m: f'<a href="{known[m.group(1)]}">{m.group(0)}</a>' if m.group(1) in known else m.group(0), text)


def prose(comment, known):
    """Paragraphs, lists ("- ") and, where lines are indented, code that stays as it is."""
    lines = [re.sub(r"^ ?\*+ ?", "", line) for line in re.sub(r"^/\*+ ?|\s*\*/$", "", comment).split("\n")]
    blocks = []  # (kind, lines)
    for line in lines:
        last = blocks[-1] if blocks else ("gap", [])
        if not line.strip():
            blocks.append(("gap", []))
        elif re.match(r"\s*- ", line):
            blocks.append(("item", [re.sub(r"^\s*- ", "", line)]))
        elif re.match(r"\s*@(return|param)", line):
            blocks.append(("text", [re.sub(r"@return", "Returns:", re.sub(r"@param", "Parameter", line.strip()))]))
        elif line.startswith("    ") and last[0] in ("gap", "code"):
            if last[0] == "gap" and len(blocks) > 1 and blocks[-2][0] == "code":
                blocks.pop()
                last = blocks[-1]
                last[1].append("")
            last[1].append(line[4:]) if last[0] == "code" else blocks.append(("code", [line[4:]]))
        elif last[0] in ("item", "text"):
            last[1].append(line.strip())
        else:
            blocks.append(("text", [line]))
    out = [as_html(kind, text, known) for kind, text in blocks if kind != "gap"]
    return re.sub(r"</ul>\n<ul>", "", "\n".join(out))


def as_html(kind, lines, known):
    text = linked(html.escape("\n".join(lines)), known)
    if kind == "code":
        return f"<pre><code>{text}</code></pre>"
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    return f"<ul><li>{text}</li></ul>" if kind == "item" else f"<p>{text}</p>"


def skip_plumbing(code):
    """Without include guards, extern "C" and the like."""
    code = re.sub(r'^#ifdef __cplusplus\n.*?^#endif\n?', "", code, flags=re.M | re.S)
    code = re.sub(r"^#if defined\(__GNUC__\).*?^#endif\n?", "", code, flags=re.M | re.S)
    code = re.sub(r"^#(ifndef|define) TAMIS_\w+_H\n?|^#include .*\n?|^#endif$", "", code, flags=re.M)
    return re.sub(r"TAMIS_API |TAMIS_NODISCARD ", "", code).strip("\n")


def index_of(headers_folder, names):
    """Where each name of the C headers is explained."""
    known = {}
    for name in names:
        for kind, part in pieces((headers_folder / name).read_text(encoding="utf-8")):
            for anchor in names_in(skip_plumbing(part)) if kind == "code" else []:
                known.setdefault(anchor, f"{page_of(name)}#{anchor}")
    return known


def names_in(code):
    return list(dict.fromkeys(anchors(code) + re.findall(r"\b(tamis_\w+)\(", code)))


def declaration_of(name, code):
    """Of several that stand together, the one of this name."""
    return next((part for part in re.split(r"(?<=;)\n|\n\n", code) if re.search(rf"\b{name}\b", part)), code)


def render(path, known):
    """The page, and its entries for the search."""
    here = f"{page_of(path.name)}#"
    listed = sorted(name for name, target in known.items() if target.startswith(here) and name.startswith("tamis_"))
    out, entries, placed, comment = [f"<h1>{path.name}</h1>"], [], set(), ""
    if listed:
        names = ", ".join(f'<a href="#{name}">{name}</a>' for name in listed)
        out.append(f'<details class="names"><summary>All names of this header</summary><p>{names}</p></details>')
    for kind, part in pieces(path.read_text(encoding="utf-8")):
        if kind == "section":
            out.append(f'<h2 id="{re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")}">{html.escape(part)}</h2>')
        elif kind == "comment":
            comment = prose(part, known)
            out.append(comment)
        elif code := skip_plumbing(part):
            names = [name for name in names_in(code) if known[name] == here + name and name not in placed]
            placed.update(names)
            entries += [entry(name, name, comment, declaration_of(name, code)) for name in names]
            marks = "".join(f'<span id="{name}"></span>' for name in names)
            out.append(f"{marks}<pre class=\"declaration\"><code>{html.escape(code)}</code></pre>")
    return "\n".join(out), entries
