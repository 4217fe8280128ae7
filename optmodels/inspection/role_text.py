"""A proposed role file: what a person edits before anything is done, with the reasons as comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from optmodels.inspection.columns import Column
from optmodels.inspection.findings import Finding, possible, spellings, unknown_values
from optmodels.inspection.proposals import Proposal
from optmodels.inspection.vocabulary import said_by
from optmodels.table.dates import OR, TIMES_OF_DAY
from optmodels.table.role_file import key, toml

_MONTHS, _HOURS = '["month", "quarter", "year"]', '["hour", "daypart"]'
_LISTED = 20  # values of a column that are written out


def role_text(
    source: str, columns: Mapping[str, Column], findings: Sequence[Finding], proposals: Mapping[str, Proposal]
) -> str:
    """The text of the file; it is valid TOML, and what would change a value is commented out."""
    lines = [
        *_comment(f"Roles proposed for {source}: read them, correct them, then use them with --roles."),
        *_comment("A column is where it is for the reason beside it. Lines that change values are commented out."),
        "",
    ]
    for name, one in proposals.items():
        lines += [f"person = {toml(name)}  # {_one_line(one.reason)}"] if one.role == "person" else []
    for role, title in (("identifier", "identifiers"), ("sensitive", "sensitive")):
        lines += _listed(title, [(name, one.reason) for name, one in proposals.items() if one.role == role])
    lines += _missing(columns, proposals)
    lines += _decimal(columns.values())
    lines += _table("quasi", [(name, one.kind, one.reason) for name, one in proposals.items() if one.role == "quasi"])
    mixed = [name for name, one in proposals.items() if one.kind == "date" and columns[name].mixed_dates]
    lines += _table("dates", [(name, OR.join(columns[name].mixed_dates), "the first is released") for name in mixed])
    lines += _table("others", [(name, "drop", one.reason) for name, one in proposals.items() if one.role == "drop"])
    lines += _hierarchies([columns[name] for name, one in proposals.items() if one.role == "quasi"])
    lines += _cleaning([columns[name] for name, one in proposals.items() if one.role in ("quasi", "sensitive")])
    told = [f"{one.column or 'all columns'}: {one.what}; {one.remedy}." for one in findings]
    lines += ["", *_comment("What was seen:"), *(line for one in told for line in _comment(f"- {one}"))] if told else []
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return ["# " + _one_line(text)]


def _listed(title: str, entries: Sequence[tuple[str, str]]) -> list[str]:
    if not entries:
        return []
    return [f"{title} = [", *(f"    {toml(name)},  # {_one_line(reason)}" for name, reason in entries), "]"]


def _missing(columns: Mapping[str, Column], proposals: Mapping[str, Proposal]) -> list[str]:
    gaps = [name for name, one in proposals.items() if one.role in ("quasi", "sensitive") and columns[name].missing]
    if not gaps:
        return []
    return [
        f'missing = "error"  # choose "drop", "impute" or "category": there are gaps in {_one_line(", ".join(gaps))}'
    ]


def _decimal(columns: Iterable[Column]) -> list[str]:
    """How numbers are written, which is no change of values: without it they would be text."""
    named = [column.name for column in columns if column.decimal_commas and not column.perhaps_thousands]
    return [f'decimal = ","  # as in {_one_line(", ".join(named))}'] if named else []


def _hierarchies(columns: Iterable[Column]) -> list[str]:
    """Hierarchies that fit what columns hold, for the recoding 'hierarchy' and the formulation 'generalisation'."""
    lines = []
    for column in columns:
        if column.type == "date":
            levels = _HOURS if column.date_formats[:1] and column.date_formats[0] in TIMES_OF_DAY else _MONTHS
            lines.append(f'# {key(column.name)} = {{kind = "date", levels = {levels}}}')
        elif column.type == "code" and (width := max(map(len, column.known), default=0)) > 2:
            lines.append(f'# {key(column.name)} = {{kind = "prefix", keep = {[width // 2 + 1, width // 2]}}}')
        elif column.type == "number" and said_by(column.name, {"age"}):
            lines.append(f'# {key(column.name)} = {{kind = "bands", widths = [5, 10, 20], top = 90}}')
    return ["", "# [hierarchies]  # see 'optmodels hierarchy'", *lines] if lines else []


def _table(title: str, entries: Sequence[tuple[str, object, str]]) -> list[str]:
    if not entries:
        return []
    written = [f"{key(name)} = {toml(value)}  # {_one_line(reason)}" for name, value, reason in entries]
    return ["", f"[{title}]", *written]


def _cleaning(columns: Iterable[Column]) -> list[str]:
    unknown: list[str] = []
    clip: list[str] = []
    replaced: list[str] = []
    for column in columns:
        blanks = [value for value in column.counts if not value.strip()]
        strays = [value for value in column.counts if value.strip() in column.strays]
        if values := [*dict.fromkeys([*blanks, *unknown_values(column), *strays])][:_LISTED]:
            unknown.append(f"# {key(column.name)} = {toml(values)}")
        ends = possible(column)
        if ends and column.numbers.size and not (ends[0] <= column.numbers[0] and column.numbers[-1] <= ends[1]):
            clip.append(f"# {key(column.name)} = {toml(list(ends))}")
        if column.type in ("text", "boolean", "code", "date") and (other := spellings(column)):
            replaced += [f"# [clean.replace.{key(column.name)}]"]
            replaced += [f"# {key(value)} = {toml(chosen)}" for value, chosen in list(other.items())[:_LISTED]]
    lines = ["", "# [clean.unknown]  # values to be read as missing", *unknown] if unknown else []
    lines += ["", "# [clean.clip]  # smaller and larger numbers become the ends", *clip] if clip else []
    return lines + (["", *replaced] if replaced else [])


def _one_line(text: str) -> str:
    """Text that may stand in a comment: names and values of files hold anything."""
    return "".join(sign if sign.isprintable() else " " for sign in " ".join(text.split()))
