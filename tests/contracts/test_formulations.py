"""Every formulation keeps the contract: one judge, deterministic builds, structure that agrees with the judge."""

import pytest

from formulations import Aminifar, Generalisation, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels.problem import Formulation
from optmodels.testing import check_formulation, small_table

FORMULATIONS = [
    Microaggregation(k=2),
    Microaggregation(k=3, distinct_l=2),
    Microaggregation(k=2, entropy_l=1.5),
    Microaggregation(k=2, t=0.4),
    LiangSamavi(k=2),
    LiangSamavi(k=3),
    Generalisation(k=2),
    Generalisation(k=2, distinct_l=2),
    Generalisation(k=2, scheme="full-domain"),
    Generalisation(k=2, scheme="cells"),
    Mass(k=3, classifiers=()),
    Mass(distinct_l=2),
    MoObam(k=2),
    MoObam(k=2, n_clusters=3),
    MoObam(k=2, distinct_l=2),
    MoObam(k=2, objective="lambda", lam=0.3),
    MoObam(k=2, objective="normalised", lam=0.3),
    MajeedHwang(k=2, trees=5),
    MajeedHwang(k=2, trees=5, threshold=None, most_disclosure=0.6),
    MajeedHwang(k=2, trees=5, levels="least", threshold=0.5, most_disclosure=0.8),
]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_mixed_tables(formulation: Formulation, seed: int) -> None:
    check_formulation(formulation, small_table(9, seed=seed, sensitive=2))


CENTRES = [
    Aminifar(n_clusters=3),
    Aminifar(n_clusters=3, alpha=1.5),
    Aminifar(n_clusters=3, alpha=1.5, centres="free"),
    Aminifar(n_clusters=3, soft=True, centres="free", metric="euclidean"),
]


@pytest.mark.parametrize("formulation", CENTRES, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_tables_of_numbers(formulation: Formulation, seed: int) -> None:
    check_formulation(formulation, small_table(9, seed=seed, categorical=0, values=2))
