"""A header as a page: its comments are the text, its declarations the code, in the order in which it is written."""
import html
import re


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
    code = re.sub(r"^#(ifndef|define) TAMIS_(TAMIS|STATES|GPU)_H\n?|^#include .*\n?|^#endif$", "", code, flags=re.M)
    return re.sub(r"TAMIS_API |TAMIS_NODISCARD ", "", code).strip("\n")


def index_of(headers_folder, names):
    known = {}
    for name in names:
        text = (headers_folder / name).read_text(encoding="utf-8")
        for kind, part in pieces(text):
            for anchor in anchors(skip_plumbing(part)) if kind == "code" else []:
                known.setdefault(anchor, f"api-{name[:-2]}.html#{anchor}")
            if kind == "code":
                for anchor in re.findall(r"\b(tamis_\w+)\(", part):
                    known.setdefault(anchor, f"api-{name[:-2]}.html#{anchor}")
    return known


def render(path, names):
    known = index_of(path.parent, names)
    here = f"api-{path.stem}.html#"
    out = [f"<h1>{path.name}</h1>"]
    placed = set()
    listed = sorted(name for name, target in known.items() if target.startswith(here) and name.startswith("tamis_"))
    out.append('<details class="names"><summary>All names of this header</summary><p>' + ", ".join(f'<a href="#{name}">{name}</a>' for name in listed) + "</p></details>")
    for kind, part in pieces(path.read_text(encoding="utf-8")):
        if kind == "section":
            out.append(f'<h2 id="{re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")}">{html.escape(part)}</h2>')
        elif kind == "comment":
            out.append(prose(part, known))
        else:
            code = skip_plumbing(part)
            names_here = [name for name in dict.fromkeys(anchors(code) + re.findall(r"\b(tamis_\w+)\(", code)) if known.get(name) == here + name and name not in placed]
            placed.update(names_here)
            marks = "".join(f'<span id="{name}"></span>' for name in names_here)
            if code.strip():
                out.append(f"{marks}<pre class=\"declaration\"><code>{html.escape(code)}</code></pre>")
    return "\n".join(out)
