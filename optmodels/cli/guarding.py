"""`--against`: attacks that nobody is to be open to, as conditions beside those that are promised already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from optmodels.conditions import against
from optmodels.errors import InputError, unknown
from optmodels.objectives import quantity_of
from optmodels.problem import Formulation
from optmodels.table import Table

ATTACKS = ("skewness", "similarity")


def guarded(model: Formulation, table: Table, attacks: Sequence[str]) -> Formulation:
    """The model with the conditions that shut out the attacks; where it asks for more already, that stays.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> guarded(Microaggregation(k=5, beta=3.0), om.dataset("german"), ["skewness@2.5"]).beta
    1.5
    """
    if not attacks:
        return model
    asked: dict[str, float] = {}
    for attack in attacks:
        name = attack.partition("@")[0]
        if name not in ATTACKS:
            raise unknown("attack that --against shuts out", attack, ATTACKS)
        threshold = quantity_of(attack)[1]
        assert isinstance(threshold, float)
        asked[name] = threshold
    found: dict[str, Any] = against(table, **asked)
    present = model.to_dict()
    for condition, how in (("beta", "beta_kind"), ("t", "t_distance")):
        if condition not in found:
            continue
        if condition not in present:
            raise InputError(f"The formulation '{model.name}' does not take {condition}, which --against asks for.")
        if condition == "t" and present[condition] is not None and present[how] != "emd":
            raise InputError(
                f"--against similarity sets t by the usual distance, and t is asked for by another ({present[how]}): "
                "leave out one of them."
            )
        found[condition] = _stricter(found[condition], present[condition], table.sensitive)
    return replace(model, **found)


def _stricter(asked: Any, present: Any, attributes: Sequence[str]) -> Any:
    """The lower of two limits, attribute by attribute where one of them names any."""
    if present is None:
        return asked
    if not isinstance(asked, Mapping) and not isinstance(present, Mapping):
        return min(asked, present)
    both = [limit if isinstance(limit, Mapping) else dict.fromkeys(attributes, limit) for limit in (asked, present)]
    return {
        name: min(limit[name] for limit in both if name in limit)
        for name in attributes
        if any(name in limit for limit in both)
    }
