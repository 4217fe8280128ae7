"""What docstrings say, for people who do not read code."""

from __future__ import annotations

import re
from inspect import cleandoc

_ARGUMENTS = "Args:"


def prose(text: str) -> str:
    r"""A docstring without its examples, each paragraph and each argument one line.

    >>> print(prose("Sorts.\n\nTies are kept,\nalways.\n\nArgs:\n    k: how many\n        of them."))
    Sorts.
    Ties are kept, always.
    k: how many of them.
    """
    text = text.split(">>>")[0]
    paragraphs = [line for part in cleandoc(text).split("\n\n") for line in _lines(part)]
    return "\n".join(part for part in paragraphs if part)


def _lines(paragraph: str) -> list[str]:
    """A paragraph as one line, or the arguments that it lists as a line each."""
    if not paragraph.strip().startswith(_ARGUMENTS):
        return [" ".join(paragraph.split())]
    each = re.split(r"\n    (?! )", paragraph)[1:]
    return [" ".join(part.split()) for part in each]


def sentences_about(name: str, said: str) -> str:
    r"""The sentences of some prose that mention a parameter.

    >>> sentences_about("k", "Groups of `k` records. Knees are marked.")
    'Groups of `k` records.'
    >>> sentences_about("k", "Groups.\nk: how many of them. Knees are marked.")
    'how many of them. Knees are marked.'
    """
    for line in said.split("\n"):
        if line.startswith(f"{name}: "):
            return line.removeprefix(f"{name}: ")
    sentences = re.split(r"(?<=[.;]) ", said.replace("\n", " "))
    for mentioned in (rf"`{re.escape(name)}[`=]", rf"(?<![\w-]){re.escape(name)}(?![\w-])"):
        if found := [sentence for sentence in sentences if re.search(mentioned, sentence)]:
            return " ".join(found)
    return ""


def said_about(name: str, kind: type) -> str:
    """What a class says of one of its parameters, or else the nearest of those that it is made from.

    >>> class Groups:
    ...     "Groups of `size` records."
    >>> class Pairs(Groups):
    ...     "Groups of two."
    >>> said_about("size", Pairs)
    'Groups of `size` records.'
    """
    own = (sentences_about(name, prose(base.__doc__ or "")) for base in kind.__mro__)
    return next(filter(None, own), "")
