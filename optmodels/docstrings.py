"""What docstrings say, for people who do not read code."""

from __future__ import annotations

import re


def prose(text: str) -> str:
    r"""A docstring without its examples, each paragraph one line.

    >>> print(prose("Sorts.\n\nTies are kept,\nalways."))
    Sorts.
    Ties are kept, always.
    """
    text = text.split(">>>")[0]
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n".join(part for part in paragraphs if part)


def sentences_about(name: str, said: str) -> str:
    """The sentences of some prose that mention a parameter.

    >>> sentences_about("k", "Groups of `k` records. Knees are marked.")
    'Groups of `k` records.'
    """
    sentences = re.split(r"(?<=[.;:]) ", said.replace("\n", " "))
    mentioned = re.compile(rf"(?<![\w-])`?{re.escape(name)}`?(?![\w-])")
    return " ".join(sentence for sentence in sentences if mentioned.search(sentence))
