"""Numbers as people read them."""
import math
import re
from html import escape

MINUS, TIMES, THIN = "\u2212", "\u202f\u00d7\u202f", "\u202f"
DIGITS = 6  # of the numbers in the results
SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def power_html(mantissa, exponent):
    times = "" if mantissa == "" else mantissa.replace("-", MINUS) + "<wbr>" + TIMES
    return f'{times}<span class="whole">10<sup>{str(int(exponent)).replace("-", MINUS)}</sup></span>'


def digits(value, n=5):
    """To n digits, without zeros at the end; large and small ones as mantissa and exponent."""
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    if abs(value) >= 1e7 or abs(value) < 1e-4:
        mantissa, exponent = f"{value:.{n - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    plain = f"{value:#.{n}g}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def html(text):
    """A number that was printed somewhere: only its exponent and its sign are set in type."""
    parts = re.fullmatch(r"([<>]?)(-?[0-9.]+?)(\.\.\.)?(?:e([-+]?\d+))?", text)
    if not parts:
        return escape(text)
    side, mantissa, cut, exponent = parts.groups()
    words = {"<": "under ", ">": "over ", "": ""}[side]
    number = power_html(mantissa, exponent) if exponent else grouped(mantissa).replace("-", MINUS)
    return words + number + ("\u2026" if cut else "")


def grouped(text):
    """Thousands apart, from five digits on."""
    if not re.fullmatch(r"-?\d{5,}", text):
        return text
    return f"{int(text):,}".replace(",", THIN)


def show(value, n=5):
    return "" if value is None else html(digits(value, n))


def with_error(value, sigma):
    """A measured value to two digits of its standard error, and that."""
    if value == 0 or not 0 < sigma < 10 * abs(value):
        return show(value) + error_html(show(sigma, 2) if sigma else "")
    low = math.floor(math.log10(sigma)) - 1  # the last digit that is printed
    high = math.floor(math.log10(abs(value)))
    if 1e-4 <= abs(value) < 1e7:
        places = max(0, min(-low, DIGITS - 1 - high))
        told = grouped(f"{value:.{places}f}").replace("-", MINUS)
        is_tiny = sigma < 1e-6  # otherwise only its zeros would be visible
        return told + error_html(show(sigma, 2) if is_tiny else f"{sigma:.{max(0, -low)}f}")
    scale, places = 10.0**high, max(0, min(high - low, DIGITS - 1))
    return (f"({value / scale:.{places}f}{error_html(f'{sigma / scale:.{places}f}')})"
            f"{TIMES}{power_html('', high)}")


def error_html(text):
    return f' <span class="error">\u00b1{THIN}{text}</span>' if text else ""


def plain_power(exponent):
    """A power of ten for a picture, which has no markup."""
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(SUPERSCRIPTS))


def prose(text):
    """A sentence of ours: powers, products and exponents set in type."""
    text = escape(text, quote=False)
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([-+]?\d+)\b", lambda m: power_html(
        "" if m.group(1) == "1" else m.group(1), m.group(2)), text)
    text = re.sub(r"(?<=[\w)])\^(-?\w+)", lambda m: f"<sup>{m.group(1).replace('-', MINUS)}</sup>", text)
    text = re.sub(r"(?<=[\w)>]) x (?=\d)", TIMES, text)
    return re.sub(r"(?<![\w.])\d{5,}(?![\w.])", lambda m: grouped(m.group(0)), text)


def sentence(text):
    return prose(text[:1].upper() + text[1:])
