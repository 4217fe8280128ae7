"""Roles as TOML text: how they are written, and what a role file may hold of a hierarchy."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels.errors import InputError
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.hierarchy_spec import EXAMPLES, HierarchySpec


def written(roles: Mapping[str, Any]) -> str:
    """TOML text of roles by name: single values first, then a table for each that is about several columns."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in roles.items():
        if isinstance(value, dict):
            said = {column: _in_a_line(entry) for column, entry in value.items()}
            for column, entry in said.items():
                if isinstance(entry, Hierarchy):
                    values, *levels = (part.tolist() for _, part in entry.to_frame().items())
                    tables += [
                        "",
                        f"[{name}.{key(column)}]",
                        f"values = {toml(values)}",
                        f"levels = {toml(levels)}",
                    ]
            plain = {column: entry for column, entry in said.items() if not isinstance(entry, Hierarchy)}
            entries = [f"{key(column)} = {toml(entry)}" for column, entry in plain.items()]
            tables += ["", f"[{name}]", *entries] if entries else []
        elif value is not None:
            lines.append(f"{name} = {toml(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def parsed(text: str) -> dict[str, Any]:
    """The entries of TOML text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"This is not valid TOML: {problem}.") from problem


def _in_a_line(entry: object) -> object:
    """What a hierarchy was made from, where that is said in a line; anything else as it is."""
    match entry:
        case HierarchySpec():
            return entry.to_dict()
        case Hierarchy(spec=dict() as spec):
            return spec
    return entry


def hierarchy(name: str, form: object, folder: Path) -> Hierarchy | HierarchySpec:
    """A column's hierarchy: a file's name, a specification, what `written` makes of it, or one made already."""
    match form:
        case Hierarchy() | HierarchySpec():
            return form
        case {"kind": "csv", "file": str() as file, **rest} if not rest:
            return Hierarchy.from_csv(folder / file)
        case {"kind": kind, **rest}:
            return HierarchySpec.of({"kind": kind} | {str(setting): value for setting, value in rest.items()}, name)
        case str():
            return Hierarchy.from_csv(folder / form)
        case {"values": list() as values, "levels": list() as levels, **rest} if not rest:
            return Hierarchy(values, levels)
    examples = " or ".join(EXAMPLES.values())
    raise InputError(
        f"The hierarchy of '{name}' must be a file name, or have 'values' and 'levels', or be said in a line, such as "
        f"{examples}, not {form!r}."
    )


def key(name: str) -> str:
    """A name as a key of TOML: in quotes only where it must be.

    >>> key("age"), key("date of birth")
    ('age', '"date of birth"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def toml(value: object) -> str:
    """A value as TOML text.

    >>> toml({"age": [-99, 999]})
    '{age = [-99, 999]}'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(toml(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{key(name)} = {toml(item)}" for name, item in value.items()) + "}"
    raise InputError(f"{value!r} cannot be written to a role file; use text or numbers.")
