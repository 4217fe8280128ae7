"""How an audit reads: as text for a terminal and as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite

from optmodels.audit.findings import Findings

Row = tuple[str, str]

_TERMINAL_COLUMNS = 8  # up to alpha; the page and the JSON have the rest

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5d6778; --line: #dfe3ea; --paper: #fff; --tint: #f5f7fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #333b49; --paper: #161a21; --tint: #1e242e; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
       max-width: 60rem; padding: 2rem 1.25rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { color: var(--soft); margin: .25rem 0; max-width: 44rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .4rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td + td, th + th { text-align: right; } thead th { background: var(--tint); }
table.facts td:first-child { color: var(--soft); width: 60%; }
"""

_GLOSSARY = (
    ("distinct l", "fewest different values in a class"),
    ("entropy l", "effective number of values in the least mixed class"),
    ("recursive c", "most frequent value against the rarest that l counts"),
    ("t", "largest distance between a class's values and the whole table's"),
    ("alpha", "largest share of one value in a class"),
    ("beta", "largest relative gain in confidence about a value"),
    ("delta", "largest change, in logarithms, of a value's frequency"),
)


def audit_text(audit: Findings) -> str:
    """An audit as aligned lines."""
    blocks = [f"Audit of {audit.records:,} records in {audit.classes:,} classes ({', '.join(audit.quasi)})"]
    blocks += _lines([*_class_facts(audit), *_risk_facts(audit), *_loss_facts(audit), *_promise_facts(audit)])
    blocks += _lines(_kept_facts(audit))
    if audit.sensitive:
        header, *rows = (row[:_TERMINAL_COLUMNS] for row in _sensitive_rows(audit))
        widths = [max(len(row[j]) for row in (header, *rows)) for j in range(len(header))]
        blocks += ["", *("  " + _aligned(row, widths) for row in (header, *rows))]
    return "\n".join(blocks)


def audit_page(audit: Findings, provenance: Mapping[str, object] | None = None) -> str:
    """An audit, and how its table came about, as one HTML page."""
    sections = [
        _section("Classes", _facts_table(_class_facts(audit))),
        _section("Risk", _facts_table(_risk_facts(audit))),
    ]
    if audit.sensitive:
        header, *rows = _sensitive_rows(audit)
        meaning = "; ".join(f"<b>{escape(word)}</b> {escape(said)}" for word, said in _GLOSSARY)
        sections.append(_section("Sensitive attributes, in the worst class", _grid(header, rows), f"<p>{meaning}.</p>"))
    for title, facts in (
        ("Columns kept as they are, which no promise covers", _kept_facts(audit)),
        ("Loss", _loss_facts(audit)),
        ("Promise", _promise_facts(audit)),
        ("Where it comes from", _flat(provenance or {})),
    ):
        if facts:
            sections.append(_section(title, _facts_table(facts)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Audit of {audit.records:,} records</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Audit of {audit.records:,} records</h1>\n"
        f"<p>{audit.classes:,} classes of equal {escape(', '.join(audit.quasi))}, computed from the table itself.</p>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _class_facts(audit: Findings) -> list[Row]:
    return [
        ("smallest class, k", f"{audit.k:,}"),
        ("average class size", _number(audit.average_class_size)),
        ("discernibility", f"{audit.discernibility:,}"),
    ]


def _risk_facts(audit: Findings) -> list[Row]:
    facts = [(f"linked with probability above {tau}", _share(n, audit.records)) for tau, n in audit.linkage.items()]
    if audit.sensitive:
        facts += [
            ("in a class with one sensitive value" if name == "total" else f"... of {name}", _share(n, audit.records))
            for name, n in audit.homogeneity.items()
            if name == "total" or len(audit.homogeneity) > 2
        ]
    return [
        *facts,
        ("prosecutor risk", _number(audit.prosecutor)),
        ("journalist risk", _number(audit.journalist)),
        ("marketer risk", _number(audit.marketer)),
    ]


def _kept_facts(audit: Findings) -> list[Row]:
    if audit.kept is None:
        return []
    columns, together = audit.kept["columns"], audit.kept["alone_with_quasi_and_kept"]
    assert isinstance(columns, Mapping)
    assert isinstance(together, float)
    alone = [(f"alone with their value of '{name}'", f"{share:.1%}") for name, share in columns.items()]
    return [*alone, ("alone with quasi-identifiers and kept columns together", f"{together:.1%}")]


def _loss_facts(audit: Findings) -> list[Row]:
    facts = [(name.replace("_", " "), _number(value)) for name, value in audit.loss.items()]
    for name, share in audit.attribute_loss.items():
        remark = ", all but lost" if name in audit.all_but_lost else ""
        facts.append((f"lost of {name}, where one class of everybody loses 100%", f"{share:.1%}{remark}"))
    return facts


def _promise_facts(audit: Findings) -> list[Row]:
    promise = [(f"promised {name.replace('_', ' ')}", _said(value)) for name, value in (audit.promise or {}).items()]
    missing = audit.missing or {}
    if missing:
        promise.append(("policy for missing values", _said(missing.get("policy"))))
        if missing.get("records_dropped"):
            promise.append(("records dropped for missing values", _said(missing["records_dropped"])))
    return promise


def _sensitive_rows(audit: Findings) -> list[tuple[str, ...]]:
    header = (
        *("sensitive", "distinct l", "entropy l", "recursive c", "t variational", "t emd", "ground", "alpha"),
        *("basic beta", "enhanced beta", "delta"),
    )
    rows = [
        (
            name,
            str(levels.distinct_l),
            _number(levels.entropy_l),
            _number(levels.recursive_c),
            _number(levels.t_variational),
            _number(levels.t_emd),
            levels.t_ground,
            _number(levels.alpha),
            _number(levels.basic_beta),
            _number(levels.enhanced_beta),
            _number(levels.delta_disclosure),
        )
        for name, levels in audit.sensitive.items()
    ]
    return [header, *rows]


def _flat(values: Mapping[str, object], prefix: str = "") -> list[Row]:
    rows: list[Row] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{name}.")
        elif value is not None and value != "":
            rows.append((f"{prefix}{name}", _said(value)))
    return rows


def _number(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else "unbounded"


def _said(value: object) -> str:
    return _number(value) if isinstance(value, float) else str(value)


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / max(whole, 1):.1%})"


def _lines(facts: Sequence[Row]) -> list[str]:
    width = max((len(name) for name, _ in facts), default=0)
    return [f"  {name:<{width}}  {value}" for name, value in facts]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
    return "  ".join([first.strip().ljust(widths[0]), *others])


def _section(title: str, *parts: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def _facts_table(facts: Sequence[Row]) -> str:
    rows = "\n".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts)
    return f'<table class="facts">\n<tbody>\n{rows}\n</tbody>\n</table>'


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
