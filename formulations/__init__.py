"""Published models of anonymisation: what is being optimised."""

from typing import TYPE_CHECKING

from optmodels.exports import lazy

if TYPE_CHECKING:
    from formulations.aminifar import Aminifar as Aminifar
    from formulations.generalisation import Generalisation as Generalisation
    from formulations.liang_samavi import LiangSamavi as LiangSamavi
    from formulations.majeed_hwang import MajeedHwang as MajeedHwang
    from formulations.mass import Mass as Mass
    from formulations.microaggregation import Microaggregation as Microaggregation
    from formulations.mo_obam import MoObam as MoObam

_names, __getattr__, __dir__ = lazy(
    __name__,
    {
        "formulations.aminifar": ["Aminifar"],
        "formulations.generalisation": ["Generalisation"],
        "formulations.liang_samavi": ["LiangSamavi"],
        "formulations.majeed_hwang": ["MajeedHwang"],
        "formulations.mass": ["Mass"],
        "formulations.microaggregation": ["Microaggregation"],
        "formulations.mo_obam": ["MoObam"],
    },
)
__all__ = [*_names]
