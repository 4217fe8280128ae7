"""How an audit reads on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from optmodels.audit.findings import Findings
from optmodels.metrics import risk

Row = tuple[str, str]

_COLUMNS = 8  # up to alpha; the report and the JSON have the rest


def audit_text(audit: Findings) -> str:
    """An audit as aligned lines."""
    blocks = [f"Audit of {audit.records:,} records in {audit.classes:,} classes ({', '.join(audit.quasi)})"]
    blocks += _lines([*_class_facts(audit), *_risk_facts(audit), *_loss_facts(audit), *_promise_facts(audit)])
    blocks += _lines(_kept_facts(audit))
    if audit.sensitive:
        header, *rows = (row[:_COLUMNS] for row in _sensitive_rows(audit))
        widths = [max(len(row[j]) for row in (header, *rows)) for j in range(len(header))]
        blocks += ["", *("  " + _aligned(row, widths) for row in (header, *rows))]
    return "\n".join(blocks)


def _class_facts(audit: Findings) -> list[Row]:
    suppressed = f"{audit.suppressed:,} ({audit.suppressed_share:.1%})"
    return [
        *([("suppressed records, in no class", suppressed)] if audit.suppressed else []),
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
    for said, name, count in _attacks(audit):
        facts.append((f"{said} '{name}', of all attributes the most", _share(count, audit.records)))
    return [
        *facts,
        ("prosecutor risk", _number(audit.prosecutor)),
        ("journalist risk", _number(audit.journalist)),
        ("marketer risk", _number(audit.marketer)),
    ]


def _attacks(audit: Findings) -> list[tuple[str, str, int]]:
    """The attribute that most records are open to an attack on, for each of the attacks on sensitive values."""
    most = []
    for said, attack in (
        (f"with a value over {risk.SKEWED:g} times as frequent in their class:", "skewed"),
        (f"in a class with values at most {risk.ALIKE:g} apart:", "alike"),
    ):
        name = max(audit.sensitive, key=lambda one: getattr(audit.sensitive[one], attack), default="")
        if name:
            most.append((said, name, int(getattr(audit.sensitive[name], attack))))
    return most


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
