"""The figures of the lab as SVG that takes its colours from the page.

gnuplot draws them. The colours that it gets are placeholders: in its output each is replaced by a variable of
the page's style, so that a picture is light on a dark page and dark on a light one. Each figure is drawn
twice, for wide pages with the names of the curves beside them, and for narrow ones with a list below.

Curves whose points were calculated are lines; points that were measured are dots with their standard
error, in the colour of the curve that has their name.
"""
import math
import re
import subprocess
from html import escape

from typeset import digits, plain_power

COLOURS = 10
INK, QUIET, RULE = "#000064", "#000065", "#000066"
VARIABLES = {100: "ink", 101: "quiet", 102: "rule"} | {i: f"c{i}" for i in range(1, COLOURS + 1)}
DASHES = ["solid", "(9,7)", "(3,4)"]
NEUTRAL = ("information-theoretic floor",)  # drawn in the colour of the text


class Colours:
    """The colour of a curve by its name. A kind has the same colour in all figures of kinds."""

    def __init__(self):
        self.shared = []

    def number(self, experiment, names, name):
        if not experiment.startswith("kinds."):
            return names.index(name)
        base = name.split(" (")[0]
        if base not in self.shared:
            self.shared.append(base)
        return self.shared.index(base)


class Curve:
    def __init__(self, name, points, number):
        self.name = name
        self.line = [(x, y) for x, y, sigma in points if sigma == 0]
        self.dots = [(x, y, sigma) for x, y, sigma in points if sigma > 0]
        is_neutral = name in NEUTRAL
        self.colour = QUIET if is_neutral else f"#0000{number % COLOURS + 1:02x}"
        self.variable = "quiet" if is_neutral else f"c{number % COLOURS + 1}"
        self.dashes = DASHES[1 if is_neutral else number // COLOURS % len(DASHES)]

    def hides(self, other, x, y):
        """Would this curve hide the other one if it were drawn after it?"""
        there = {round(x.place(at), 4): y.place(value) for at, value in other.line}
        gaps = [abs(y.place(value) - there[round(x.place(at), 4)]) for at, value in self.line
                if round(x.place(at), 4) in there]
        return bool(gaps) and sum(gaps) / len(gaps) < 0.012

    @property
    def points(self):
        return self.line + [(x, y) for x, y, _ in self.dots]


class Axis:
    """A range with its marks, and where in it a value is, from 0 to 1."""

    def __init__(self, values, is_log, is_falling=False, from_zero=False):
        values = [v for v in values if not is_log or v > 0]
        self.is_log = is_log
        self.low, self.high = min(values), max(values)
        if from_zero and not is_log:
            self.pad()
        elif from_zero:
            self.low, self.high = self.low / 1.3, self.high * 1.3
        self.is_falling = is_falling

    def pad(self):
        span = self.high - self.low or abs(self.high) or 1
        is_near_zero = 0 <= self.low < 0.6 * self.high
        self.low = 0 if is_near_zero else self.low - 0.08 * span
        self.high += 0.08 * span

    def marks(self, most):
        if not self.is_log:
            return [(v, digits(v)) for v in self.round_values(most)]
        low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if math.log10(self.high / self.low) < 2.2:  # 1, 2, 5 of each decade
            values = [m * 10.0**e for e in range(low - 1, high + 1) for m in (1, 2, 5)]
            return [(v, digits(v)) for v in values if self.low <= v <= self.high]
        step = max(1, math.ceil((high - low + 1) / most))
        return [(10.0**e, plain_power(e)) for e in range(low, high + 1) if e % step == 0]

    def round_values(self, most):
        """Multiples of 1, 2 or 5 and a power of ten."""
        rough = (self.high - self.low) / most
        power = 10 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [float(f"{i * step:.10g}") for i in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def place(self, value):
        f = math.log10 if self.is_log else float
        share = (f(value) - f(self.low)) / ((f(self.high) - f(self.low)) or 1)
        return 1 - share if self.is_falling else share

    def settings(self, name, most):
        slack = 1e-6 * (abs(self.low) if self.is_log else self.high - self.low)
        ends = [self.low - slack, self.high * (1 + 1e-6)]  # so that marks at the ends are inside
        ends = ends[::-1] if self.is_falling else ends
        marks = ", ".join(f"'{text}' {value:.10g}" for value, text in self.marks(most))
        lines = [f"set {name}range [{ends[0]:.10g}:{ends[1]:.10g}]", f"set {name}tics ({marks})"]
        return ([f"set logscale {name}"] if self.is_log else [f"unset logscale {name}"]) + lines


def spread(places, gap):
    """Places near the given ones, in their order, and no two nearer than the gap."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for _ in range(200):
        for a, b in zip(order, order[1:]):
            overlap = gap - (moved[b] - moved[a])
            if overlap > 1e-9:
                moved[a] -= overlap / 2
                moved[b] += overlap / 2
        for i in order:
            moved[i] = min(max(moved[i], 0), 1)
    return moved


class Figure:
    def __init__(self, described, experiment, colours):
        self.name, self.title = described["name"], described["title"]
        self.identity = f"{experiment.replace('.', '-')}-{self.name}"
        self.x_name, self.y_name, self.remark = described["x"], described["y"], described["remark"]
        names = [c["name"] for c in described["curves"] if c["name"] not in NEUTRAL]
        self.curves = [Curve(c["name"], c["points"], colours.number(experiment, names, c["name"])
                             if c["name"] in names else 0) for c in described["curves"]]
        every = [point for curve in self.curves for point in curve.points]
        every = [(x, y) for x, y in every if not (described["log_y"] and y <= 0)]
        is_rate = self.x_name.startswith("false-positive rate")  # rates fall from left to right
        self.x = Axis([x for x, _ in every], described["log_x"], is_falling=is_rate)
        self.y = Axis([y for _, y in every], described["log_y"], from_zero=True)
        for i, curve in enumerate(self.curves):
            if curve.line and any(curve.hides(other, self.x, self.y) for other in self.curves[:i]):
                curve.dashes = DASHES[1]  # so that both are visible

    def script(self, path, is_wide):
        width, height = (760, 430) if is_wide else (358, 320)
        marks = self.y.marks(7)
        left, bottom, top = 44 + 7.8 * max(len(text) for _, text in marks), 52, 14
        right = 18 + 7.4 * max(len(c.name) for c in self.curves) if is_wide else 14
        margins = [f"set lmargin at screen {left / width:.5f}",
                   f"set rmargin at screen {1 - right / width:.5f}",
                   f"set bmargin at screen {bottom / height:.5f}",
                   f"set tmargin at screen {1 - top / height:.5f}"]
        lines = [f"set terminal svg size {width},{height} font 'sans-serif,13' noenhanced dynamic",
                 f"set output '{path}'", "set encoding utf8", "unset key", "unset label", *margins,
                 f"set border 3 lc rgb '{QUIET}' lw 0.8",
                 f"set tics nomirror scale 0.4 textcolor rgb '{INK}'",
                 f"set grid x y lc rgb '{RULE}' lw 0.6 lt 1 dt solid",
                 f"set xlabel '{self.x_name}' textcolor rgb '{INK}' offset 0,0.2",
                 f"set ylabel '{self.y_name}' textcolor rgb '{INK}' offset 0.4,0",
                 *self.x.settings("x", 8 if is_wide else 5), *self.y.settings("y", 7)]
        if is_wide:
            lines += self.names(17 / (height - bottom - top))
        return "\n".join(lines + self.plot()) + "\n"

    def names(self, gap):
        """Beside the last point of each curve, as near as there is room."""
        ends = [max(curve.points, key=lambda point: self.x.place(point[0])) for curve in self.curves]
        ends = [(self.x.place(x), self.y.place(y)) for x, y in ends]
        is_apart = len(ends) <= 4 and all(abs(a[1] - b[1]) > gap for a in ends for b in ends if a is not b)
        places = spread([y for _, y in ends], gap)
        return [f"set label '{curve.name}' at graph {(x if is_apart else 1) + 0.015:.5f}, "
                f"graph {place:.5f} left textcolor rgb '{curve.colour}'"
                for curve, (x, _), place in zip(self.curves, ends, places)]

    def plot(self):
        data, parts = [], []
        for i, curve in enumerate(self.curves):
            if curve.line:
                data.append(block(f"$line{i}", curve.line))
                parts.append(f"$line{i} with lines lc rgb '{curve.colour}' lw 2 dt {curve.dashes}")
            if curve.dots:
                data.append(block(f"$dots{i}", curve.dots))
                if not curve.line:
                    parts.append(f"$dots{i} with lines lc rgb '{curve.colour}' lw 1.2 dt {curve.dashes}")
                parts.append(f"$dots{i} with yerrorbars lc rgb '{curve.colour}' lw 1.2 pt 7 ps 0.55")
        return data + ["plot " + ", \\\n    ".join(parts)]

    def clean(self, svg, kind):
        """gnuplot's SVG as a part of a page."""
        svg = svg[svg.index("<svg"):]
        svg = re.sub(r"<title>.*?</desc>", "", svg, flags=re.S)
        svg = re.sub(r"<filter.*?</filter>", "", svg, flags=re.S)
        svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
        svg = re.sub(r"<title>.*?</title>", "", svg)
        svg = re.sub(r"<use [^>]*color='white'/>", "", svg)  # the background of dots
        svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
        svg = re.sub(r"(['\"#])(gp\w*|gnuplot_\w*)", rf"\1{self.identity}-{kind}-\2", svg)
        svg = re.sub(r"rgb\( *0, *0, *(\d+)\)", lambda m: f"var(--{VARIABLES[int(m.group(1))]})", svg)
        svg = re.sub(r" *font-family=\"[^\"]*\"", "", svg)
        label = escape(self.title, quote=True)
        svg = svg.replace("<svg", f'<svg class="{kind}" role="img" aria-label="{label}"', 1)
        return re.sub(r"\s*\n\s*", "\n", svg).strip()


def block(name, rows):
    return f"{name} << EOD\n" + "\n".join(" ".join(f"{v:.7g}" for v in row) for row in rows) + "\nEOD"


def draw(figures, folder):
    """Both pictures of every figure: {(identity, kind): SVG}."""
    scripts, paths = [], {}
    for figure in figures:
        for kind in ("wide", "narrow"):
            paths[figure, kind] = folder / f"{figure.identity}-{kind}.svg"
            scripts.append(figure.script(paths[figure, kind], kind == "wide"))
    subprocess.run(["gnuplot"], input="\n".join(scripts) + "\nunset output\n", text=True, check=True)
    return {(figure.identity, kind): figure.clean(path.read_text(encoding="utf-8"), kind)
            for (figure, kind), path in paths.items()}
