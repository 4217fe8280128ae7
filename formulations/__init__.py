"""Published models of anonymisation: what is being optimised."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formulations.aminifar import Aminifar
    from formulations.liang_samavi import LiangSamavi
    from formulations.majeed_hwang import MajeedHwang
    from formulations.mass import Mass
    from formulations.microaggregation import Microaggregation
    from formulations.mo_obam import MoObam

__all__ = ["Aminifar", "LiangSamavi", "MajeedHwang", "Mass", "Microaggregation", "MoObam"]

_HOMES = {
    "Aminifar": "formulations.aminifar",
    "LiangSamavi": "formulations.liang_samavi",
    "MajeedHwang": "formulations.majeed_hwang",
    "Mass": "formulations.mass",
    "Microaggregation": "formulations.microaggregation",
    "MoObam": "formulations.mo_obam",
}


def __getattr__(name: str) -> object:
    """A model's class, imported when first asked for: one model does not pay for another's libraries."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'formulations' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
