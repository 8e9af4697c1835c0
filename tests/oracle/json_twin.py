# SPDX-License-Identifier: Apache-2.0
"""json_twin.py ECHO: the JSON reader and writer against Python's json on random documents and on damaged ones.

Both must refuse the same documents, and what ECHO reads and writes again must mean the same to Python. Python's reader
is made strict first: it takes NaN, duplicate keys, half surrogates and numbers beyond a double, which ours refuses."""

import decimal
import json
import math
import random
import subprocess
import sys

rng = random.Random(20240607)
ALPHABET = 'ab"\\/\b\f\n\r\t\x01\x1f\x7fé€𝄞\ufffd\uffff\u2028'


def random_string():
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(6)))


def random_number():
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randrange(-100, 100)
    if kind == 1:
        return rng.randrange(-(2**66), 2**66)
    if kind == 2:
        return rng.choice((2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 0.0, -0.0, 5e-324, 1.7976931348623157e308))
    return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-320, 308)


def random_value(depth):
    kind = rng.randrange(8 if depth else 5)
    if kind < 5:
        return (None, True, False, random_string(), random_number())[kind]
    if kind == 5:
        return [random_value(depth - 1) for _ in range(rng.randrange(6))]
    return {random_string(): random_value(depth - 1) for _ in range(rng.randrange(25 if kind == 7 else 4))}


def random_document():
    text = json.dumps(random_value(4), ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 1, "\t")))
    return (b"\xef\xbb\xbf" if rng.random() < 0.05 else b"") + text.encode()


def damage(document):
    bytes_ = bytearray(document)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(bytes_) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del bytes_[at : at + rng.randrange(1, 4)]
        elif kind == 1:
            bytes_[at:at] = bytes([rng.choice(b'[]{},:"\\0123456789.eE+-tfnu \n\x00\x80\xc0\xed\xff')])
        elif kind == 2 and at < len(bytes_):
            bytes_[at] = rng.randrange(256)
        else:
            piece = rng.randrange(len(bytes_) + 1)
            bytes_[at:at] = bytes_[piece : piece + rng.randrange(12)]
    return bytes(bytes_)


def refuse(*_):
    raise ValueError


def members(pairs):
    value = dict(pairs)
    return value if len(value) == len(pairs) else refuse()


def real(text):
    """2e3 is the integer 2000 to ours, exactly; else the nearest double."""
    value = float(text)
    if not math.isfinite(value):
        refuse()
    if abs(value) < 2.0**64:
        exact = decimal.Decimal(text)
        if exact == exact.to_integral_value() and -(2**63) <= exact < 2**63:
            return int(exact)
    return value


def check_strings(value):
    """Half surrogates cannot be encoded."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            check_strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_strings(key)
            check_strings(item)


def integer(text):
    value = int(text)
    return value if -(2**63) <= value < 2**63 else real(text)


def twin(document):
    """(True, value), or (False, None) where a strict reader refuses."""
    try:
        if document.startswith(b"\xef\xbb\xbf"):
            document = document[3:]
        text = document.decode("utf-8")
        value = json.loads(text, parse_constant=refuse, parse_float=real, parse_int=integer, object_pairs_hook=members)
        check_strings(value)
        return True, value
    except (ValueError, OverflowError):
        return False, None


def same(a, b):
    """Equal, and in the same order; 1 and 1.0 are the same number, but True is none."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def main():
    documents = [random_document() for _ in range(4000)]
    documents += [damage(rng.choice(documents)) for _ in range(16000)]
    lines = "".join(document.hex() + "\n" for document in documents)
    answers = subprocess.run([sys.argv[1]], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.split(b"\n")
    assert len(answers) == len(documents) + 1, "one answer for each document"
    accepted = damaged = 0
    for number, (document, answer) in enumerate(zip(documents, answers)):
        good, value = twin(document)
        assert good != answer.startswith(b"refused"), f"Python {'reads' if good else 'refuses'} {document[:2000]!r}: {answer[:200]!r}"
        accepted += good
        damaged += good and number >= 4000
        # The writer takes C strings, so a document with NULs does not come back whole.
        if good and b"\\u0000" not in document:
            again = json.loads(answer, parse_float=real, parse_int=integer)
            assert same(value, again), f"{document[:2000]!r} became {answer[:2000]!r}"
    print(f"{len(documents)} documents: {accepted} read alike, {len(documents) - accepted} refused alike")
    assert accepted >= 4000 and damaged >= 500 and len(documents) - accepted >= 5000, "both kinds must be tried"


main()
