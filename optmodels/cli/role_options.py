"""What the columns are, as options: every field of `Roles` has one, said once for all commands that take roles.

Nothing heavy is imported here: help appears at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from optmodels.cli.options import ROLES
from optmodels.cli.standing import Command, standing_for
from optmodels.cli.values import chosen, literal, names, pairs
from optmodels.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from optmodels.table.hierarchy import Hierarchy
    from optmodels.table.role_types import SomeRoles


@dataclass(frozen=True)
class RoleOption:
    """An option: the field of `Roles` that it is about, what is typed and shown, and how that becomes a value."""

    role: str
    typed: Any
    metavar: str | None
    help: str
    read: Callable[[str, Any], Any]

    @property
    def annotation(self) -> Any:
        """The option as typer takes it."""
        return Annotated[self.typed | None, typer.Option(metavar=self.metavar, help=self.help, rich_help_panel=ROLES)]


def _as_typed(_: str, value: Any) -> Any:
    return value


def _separator(_: str, text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


def _of_kind(option: str, columns: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(names(option, columns), option.removeprefix("--"))


def _literals(option: str, texts: Iterable[str]) -> dict[str, Any]:
    return {column: literal(text) for column, text in pairs(option, texts).items()}


def _weights(option: str, texts: Iterable[str]) -> dict[str, Any] | str:
    """Numbers by column, or the word that has them found out.

    >>> _weights("--weight", ["age=2"]), _weights("--weight", ["importance"])
    ({'age': 2}, 'importance')
    """
    typed = list(texts)
    if "importance" in typed and len(typed) > 1:
        raise InputError(f"{option} importance finds out what all columns count: leave out the numbers, or the word.")
    return "importance" if typed == ["importance"] else _literals(option, typed)


def orders(option: str, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The values of columns from lowest to highest, by column.

    >>> orders("--order", ["stage=early,late"])
    {'stage': ('early', 'late')}
    """
    return {column: names(option, [values]) for column, values in pairs(option, texts).items()}


def made_hierarchies(given: Mapping[str, Any], frame: pd.DataFrame) -> dict[str, Hierarchy]:
    """The hierarchies of a frame's columns, made of their values where they were only said."""
    from optmodels.table.hierarchy_spec import HierarchySpec
    from optmodels.table.role_file import hierarchy

    trees = {column: hierarchy(column, form, Path()) for column, form in given.items()}
    return {
        column: tree.build(frame[column].dropna().unique().tolist()) if isinstance(tree, HierarchySpec) else tree
        for column, tree in trees.items()
    }


# Hierarchies that are said in a few words, and the setting that stands after the colon.
SAID = {"prefix": "keep", "bands": "widths", "date": "levels"}


def said_hierarchy(text: str) -> dict[str, Any] | None:
    """A hierarchy said in a few words; None where a file is named.

    >>> said_hierarchy("prefix:3,2"), said_hierarchy("age.csv")
    ({'kind': 'prefix', 'keep': [3, 2]}, None)
    """
    kind, colon, settings = text.partition(":")
    if not colon or kind not in SAID or Path(text).exists():
        return None
    return {"kind": kind, SAID[kind]: [literal(word.strip()) for word in settings.split(",")]}


def hierarchy_files(option: str, texts: Iterable[str]) -> dict[str, Path]:
    """The files of hierarchies, by column."""
    return {column: Path(text) for column, text in pairs(option, texts).items() if said_hierarchy(text) is None}


def hierarchies(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """The hierarchies in files, or said in a few words, by column."""
    from optmodels.table.hierarchy import Hierarchy

    return {column: said_hierarchy(text) or Hierarchy.from_csv(text) for column, text in pairs(option, texts).items()}


def _choice(name: str, *left_out: str) -> Callable[[str, str], str]:
    """A word that `Roles` knows for one of its fields."""

    def read(option: str, word: str) -> str:
        from optmodels.table import roles

        known: tuple[str, ...] = get_args(getattr(roles, name))
        return chosen(option, word, [choice for choice in known if choice not in left_out])

    return read


def _unknown(option: str, texts: Iterable[str]) -> dict[str, Any]:
    return {"unknown": {column: names(option, [values]) for column, values in pairs(option, texts).items()}}


def _case(option: str, text: str) -> dict[str, Any]:
    """Letters of all columns, or by column.

    >>> _case("--case", "lower"), _case("--case", "sex=lower,code=upper")
    ({'case': 'lower'}, {'case': {'sex': 'lower', 'code': 'upper'}})
    """
    return {"case": pairs(option, text.split(",")) if "=" in text else text}


def _clip(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Ends of numbers by column, of which one may be left out.

    >>> _clip("--clip", ["age=18,90", "pay=,9000"])
    {'clip': {'age': (18, 90), 'pay': (-inf, 9000)}}
    """
    ends = {}
    for column, typed in pairs(option, texts).items():
        low, comma, high = (part.strip() for part in typed.partition(","))
        if not comma:
            raise InputError(f"{option} takes COLUMN=LOW,HIGH, of which one may be left out, not '{column}={typed}'.")
        ends[column] = literal(low) if low else -inf, literal(high) if high else inf
    return {"clip": ends}


_LIST = list[str]
OPTIONS: Mapping[str, RoleOption] = {
    "numeric": RoleOption("quasi", _LIST, "A,B", "Numeric quasi-identifiers.", _of_kind),
    "date": RoleOption("quasi", _LIST, "A,B", "Quasi-identifiers that are dates, with or without times.", _of_kind),
    "date_format": RoleOption(
        "dates", _LIST, "COLUMN=FORMAT", "How dates are written, such as %d.%m.%Y, where that is not clear.", pairs
    ),
    "categorical": RoleOption("quasi", _LIST, "A,B", "Categorical quasi-identifiers.", _of_kind),
    "ordinal": RoleOption("quasi", _LIST, "A,B", "Ordinal quasi-identifiers.", _of_kind),
    "sensitive": RoleOption("sensitive", _LIST, "A,B", "Sensitive attributes.", names),
    "identifier": RoleOption("identifiers", _LIST, "A,B", "Columns that name a person, always dropped.", names),
    "person": RoleOption(
        "person", str, "A", "The column that says whose a record is, dropped: k then counts people.", _as_typed
    ),
    "target": RoleOption(
        "target", str, "A", "The column that a classifier is to predict, kept; it may be sensitive, too.", _as_typed
    ),
    "others": RoleOption("others", str, "drop|keep", "What to do with all other columns.", _choice("Others", "error")),
    "missing": RoleOption(
        "missing", str, "error|category|drop|impute", "What to do with missing values.", _choice("Missing")
    ),
    "scaling": RoleOption(
        "scaling",
        str,
        "alike|none|standard|range",
        "How columns are made comparable: all alike, which is usual for files, or as papers do it, which is usual for "
        "datasets: numbers as they are, by their standard deviation or by their range.",
        _choice("Scaling"),
    ),
    "weight": RoleOption(
        "weights",
        _LIST,
        "COLUMN=NUMBER|importance",
        "What a quasi-identifier counts, 1 by default; or what all of them tell about the target.",
        _weights,
    ),
    "gamma": RoleOption("gamma", float, None, "What one categorical mismatch costs, 1 by default.", _as_typed),
    "order": RoleOption(
        "orders", _LIST, "COLUMN=LOW,...,HIGH", "The order of an ordinal or sensitive column's values.", orders
    ),
    "ordered": RoleOption(
        "ordered",
        _LIST,
        "A,B",
        "Sensitive attributes whose values have an order: of their numbers, or else of the alphabet. It counts for t.",
        names,
    ),
    "nominal": RoleOption(
        "nominal", _LIST, "A,B", "Sensitive attributes whose values are names, though they may be numbers.", names
    ),
    "bins": RoleOption(
        "bins", _LIST, "COLUMN=N|[EDGES]", "Cut a numeric sensitive attribute into N bins or at edges.", _literals
    ),
    "hierarchy": RoleOption(
        "hierarchies",
        _LIST,
        "COLUMN=FILE|KIND:...",
        "A column's generalisation hierarchy: a CSV in ARX's form, or prefix:3,2, bands:5,10,20, date:month,year.",
        hierarchies,
    ),
    "sep": RoleOption("separator", str, "CHARACTER", "What parts a CSV's cells; found out by default.", _separator),
    "decimal": RoleOption("decimal", str, ".|,", "The decimal mark of a CSV's numbers, a point by default.", _as_typed),
    "encoding": RoleOption(
        "encoding", str, "NAME", "How a CSV's characters are written; found out by default.", _as_typed
    ),
    "unknown": RoleOption("clean", _LIST, "COLUMN=A,B", "Read these values of a column as missing.", _unknown),
    "trim": RoleOption("clean", bool, None, "Take spaces off the ends of text.", lambda _, value: {"trim": value}),
    "case": RoleOption(
        "clean",
        str,
        "lower|upper|COLUMN=lower,...",
        "Write text in small or capital letters: all columns, or those that are named.",
        _case,
    ),
    "clip": RoleOption("clean", _LIST, "COLUMN=LOW,HIGH", "Numbers beyond become these: bottom and top coding.", _clip),
}


@dataclass(frozen=True)
class TypedRoles:
    """What was typed about the columns, by option."""

    typed: Mapping[str, Any]

    @property
    def files(self) -> list[Path]:
        """The files that are named."""
        return [*hierarchy_files("--hierarchy", self.typed.get("hierarchy", ())).values()]

    def read(self) -> SomeRoles:
        """The roles that were asked for, and no others; each word is checked, and each column of one kind only.

        >>> TypedRoles({"numeric": ["age"], "sensitive": ["illness,pay"]}).read()
        {'quasi': {'age': 'numeric'}, 'sensitive': ('illness', 'pay')}
        """
        found: dict[str, Any] = {}
        for name, typed in self.typed.items():
            role, value = OPTIONS[name].role, OPTIONS[name].read(f"--{name.replace('_', '-')}", typed)
            for column in found.get(role, ()):
                if column in value:
                    raise InputError(f"Column '{column}' has two roles, {found[role][column]} and {name}; give it one.")
            found[role] = {**found[role], **value} if role in found else value
        return found  # type: ignore[return-value]


def takes_roles(*roles: str) -> Callable[[Command], Command]:
    """A command whose parameter `columns` stands for the options of these roles, or of all of them."""
    listed = {name: option.annotation for name, option in OPTIONS.items() if not roles or option.role in roles}
    return standing_for("columns", listed, TypedRoles)
