"""What is promised of every class, as options: k, and every condition on sensitive attributes.

Nothing heavy is imported here: help appears at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optmodels.cli.options import PROMISE
from optmodels.cli.standing import standing_for


def _condition(metavar: str, told: str) -> Any:
    """A condition of all sensitive attributes, or of those that are named."""
    return Annotated[list[str] | None, typer.Option(metavar=metavar, help=told, rich_help_panel=PROMISE)]


OPTIONS: dict[str, Any] = {
    "k": Annotated[int | None, typer.Option(help="The least number of records in a class.", rich_help_panel=PROMISE)],
    "scheme": Annotated[
        str | None,
        typer.Option(
            metavar="local|cells|full-domain",
            help="Of --formulation generalisation: every class its own nodes of hierarchies (default), single cells "
            "kept or suppressed, or everybody on the same levels.",
            rich_help_panel=PROMISE,
        ),
    ],
    "suppress": Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="The largest share of records that may be left out of all classes, such as 0.05; none by default.",
            rich_help_panel=PROMISE,
        ),
    ],
    "suppression_price": Annotated[
        float | None,
        typer.Option(
            metavar="PRICE",
            help="What leaving out a record adds to what is optimised; by default what one costs on average where all "
            "are in one class.",
            rich_help_panel=PROMISE,
        ),
    ],
    "distinct_l": _condition(
        "L|A=L,...",
        "The least number of distinct values of every sensitive attribute, or of those that are named; every condition "
        "can be given either way.",
    ),
    "entropy_l": _condition("L|A=L,...", "The least entropy l of the sensitive values."),
    "recursive": _condition(
        "C,L|A=C,L,...",
        "Recursive (c, l)-diversity: the most frequent value is rarer than c times the l-th and all rarer ones.",
    ),
    "most_share": _condition(
        "S|A=S,...", "The largest share of one sensitive value in a class: the alpha of (alpha, k)-anonymity."
    ),
    "beta": _condition(
        "B|A=B,...", "The largest relative gain of a value's share over its share in the table: beta-likeness."
    ),
    "beta_kind": _condition("basic|enhanced", "Which beta-likeness; basic by default."),
    "delta": _condition(
        "D|A=D,...", "Every |ln(share in a class / share in the table)| stays below it: delta-disclosure."
    ),
    "t": _condition("T|A=T,...", "The largest distance from the whole table's distribution."),
    "t_distance": _condition(
        "emd|equal|ordered|hierarchical|variational",
        "How t is measured; by hierarchy, order or neither, whichever an attribute has, by default.",
    ),
}


def _promised(typed: dict[str, Any]) -> dict[str, Any]:
    from optmodels.cli.promise import promised

    return promised(**typed)


# A command whose parameter `promise` stands for all of these: what was asked for, as a formulation takes it.
takes_promise = standing_for("promise", OPTIONS, _promised)
