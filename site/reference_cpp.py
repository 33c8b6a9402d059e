"""tamis.hpp as a page: its classes with their public members and comments, without bodies and without what is private.

The header is read by its braces, which is enough for one that clang-format has laid out and that has no braces in strings.
"""
import html
import re

from reference import entry, pieces, prose

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[{}();:]|[^/"{}();:]+|.', re.S)
CONTAINER = re.compile(r"(?:template <[^{]*> )?(namespace|class|struct)\b(?: \[\[nodiscard\]\])? ([\w:<>]+)")


def closing_brace(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[i], 0)
        if depth == 0:
            return i
    raise ValueError("a brace is not closed")


def items(text):
    """What stands side by side: ('comment', text), ('access', name), ('declaration', head), ('container', head, inside)."""
    tokens = TOKEN.findall(re.sub(r"^#.*\n(?:(?<=\\\n).*\n)*", "", text, flags=re.M))
    head, parentheses, i = "", 0, 0
    while i < len(tokens):
        token, line = tokens[i], " ".join(head.split())
        if token.startswith("/*") and not line:
            yield ("comment", token)
        elif token == ";" and parentheses == 0 or token == "{" and parentheses == 0:
            end = closing_brace(tokens, i) if token == "{" else i
            if CONTAINER.match(line) and token == "{":
                yield ("container", line, "".join(tokens[i + 1:end]))
            elif line:
                yield ("declaration", line)
            head, i = "", end
        elif token == ":" and line in ("public", "private", "protected"):
            yield ("access", line)
            head = ""
        elif not token.startswith(("//", "/*")):
            parentheses += {"(": 1, ")": -1}.get(token, 0)
            head += token
        i += 1


def is_public(found, access):
    """Of a class or of the namespace: what a user may name."""
    return access == "public" and not (found[0] == "declaration" and found[1].startswith("static_assert"))


def name_of(declaration):
    """The function, field or type that it introduces."""
    operator = re.search(r"operator ?(?:bool|\(\)|\[\]|[^\s\w(]+)", declaration)
    if operator:
        return operator.group(0)
    before = re.split(r"\(| = |$", re.sub(r"^template <.*?> (?!=)", "", declaration), maxsplit=1)[0]
    return re.findall(r"~?\w+", before)[-1]


def without_initializers(declaration):
    return re.sub(r"(\)(?: const)?(?: noexcept)?) : .*$", r"\1", declaration)


class Writer:
    def __init__(self, page, title, known):
        self.page, self.title, self.known = page, title, known
        self.out, self.entries, self.ids, self.lines, self.comment = [], [], set(), [], ""

    def end_code(self):
        """Declarations that stand together, without a comment in between, are one block."""
        if self.lines:
            marks = "".join(f'<span id="{name}"></span>' for name, _ in self.lines if name)
            code = "\n".join(html.escape(text) for _, text in self.lines)
            self.out.append(f'{marks}<pre class="declaration"><code>{code}</code></pre>')
        self.lines = []

    def add_comment(self, comment):
        self.end_code()
        self.comment = ""
        if comment.startswith("/* ----"):
            title = re.sub(r"[/*\-\s]+", " ", comment).strip()
            self.out.append(f'<h2 id="part-{title.replace(" ", "-")}">{html.escape(title)}</h2>')
        else:
            self.comment = prose(re.sub(r"\n\s+\*", "\n *", comment), self.known)
            self.out.append(self.comment)

    def add_declaration(self, owner, declaration):
        full = "::".join(["tamis", *owner, name_of(declaration)])
        anchor = re.sub(r"[^\w.]+", "-", ".".join([*owner, name_of(declaration)])).strip("-")
        text = f"{without_initializers(declaration)};"
        self.lines.append((anchor if anchor not in self.ids else "", text))
        if anchor not in self.ids:
            self.entries.append(entry(anchor, full, self.comment, text))
        self.ids.add(anchor)

    def add_class(self, owner, head, inside):
        name = CONTAINER.match(head).group(2)
        anchor = re.sub(r"\W+", "-", ".".join([*owner, name])).strip("-")
        before = self.out.pop() if self.comment else ""
        level = 3 if not owner else 4
        self.out += [f'<h{level} id="{anchor}">{html.escape(head)}</h{level}>', before]
        self.ids.add(anchor)
        self.entries.append(entry(anchor, "::".join(["tamis", *owner, name]), before, head))
        self.comment = ""
        if not owner:  # a nested class is an output iterator: its name says enough
            self.add_all([name], inside, "public" if head.split()[0] == "struct" else "private")

    def add_all(self, owner, text, access="public"):
        for found in items(text):
            if found[0] == "access":
                access = found[1]
            elif found[0] == "container" and found[1].startswith("namespace detail"):
                continue
            elif not is_public(found, access):
                continue
            elif found[0] == "comment":
                self.add_comment(found[1])
            elif found[0] == "declaration":
                self.add_declaration(owner, found[1])
            else:
                self.end_code()
                self.add_class(owner, found[1], found[2])
        self.end_code()


def render(path, page, title, known):
    """The page, and its entries for the search."""
    text = path.read_text(encoding="utf-8")
    writer = Writer(page, title, known)
    first = next(part for kind, part in pieces(text) if kind == "comment")
    inside = next(found[2] for found in items(text) if found[0] == "container" and found[1] == "namespace tamis")
    writer.out += [f"<h1>{title}</h1>", '<p><a href="cpp.html">tamis in C++</a> has examples.</p>', prose(first, known)]
    writer.add_all([], inside)
    return "\n".join(writer.out), writer.entries
