"""The authors' own swarm: table 5 of MO-OBAM comes out, and what breaks k is labelled or withheld."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import optmodels as om
from formulations import Aminifar, MoObam
from optmodels.errors import InputError, OptmodelsError
from solvers import Pso
from solvers.pso.authors import PENALTY, AuthorsFlight
from solvers.pso.published import BROKEN

GERMAN = om.dataset("german")


def _flight(k: int, seed: int, particles: int = 10, lam: float = 0.0001) -> AuthorsFlight:
    problem = MoObam(k=k, n_clusters=30, objective="lambda", lam=lam).build(GERMAN)
    return AuthorsFlight(problem, seed, particles=particles, n_centroids=None, penalty=PENALTY)


def test_particles_start_in_the_range_and_never_leave_it() -> None:
    flight = _flight(5, 0)
    for _ in range(8):
        assert (flight.positions >= flight.space.low).all()
        assert (flight.positions <= flight.space.high).all()
        codes = flight.positions[:, ~flight.numeric]
        assert (codes == np.rint(codes)).all()
        flight.step()


def test_a_number_that_strays_becomes_the_mean_and_a_category_moves_only_with_a_velocity() -> None:
    flight = _flight(5, 0)
    flight.step()
    before = flight.positions.copy()
    flight.velocities[:] = 0.0
    flight.velocities[:, flight.numeric] = 1e6
    flight.own_best[:] = before
    flight.best = before[0].copy()
    flight._move()
    mean = flight.space.price.numeric.mean(axis=0)
    np.testing.assert_allclose(flight.positions[0, flight.numeric], np.tile(mean, flight.space.n_centroids))
    same = flight.positions[0, ~flight.numeric] == before[0, ~flight.numeric]
    assert same.all()


def test_the_swarm_breaks_k_as_the_published_table_does() -> None:
    """Table 5, k = 20: 125 people in classes of fewer than 20, at a loss of 0.0148."""
    flight = _flight(20, 1, particles=20)
    for _ in range(40):
        flight.step()
    told = flight.described()
    assert 60 <= told["records_in_classes_below_k"] <= 300
    assert 0.010 <= told["loss_around_centroids"] <= 0.025
    around_means = flight.problem.with_objectives("loss").evaluate(flight.best_labels).values
    assert told["loss_around_centroids"] > min(around_means.values())


def test_entropy_is_the_least_sum_where_the_paper_has_the_sum_of_the_least() -> None:
    flight = _flight(5, 0, particles=4, lam=1.0)
    decoded = flight.native.decode(flight.positions)
    assert (flight._entropies(decoded) >= decoded.partitions.entropies.sum(axis=1) - 1e-12).all()


@pytest.mark.parametrize("gamma", [None, 50.0])
def test_solve_withholds_what_breaks_k_and_published_hands_it_out_with_a_label(gamma: float | None) -> None:
    """Whatever mismatches count where records join centroids, as in the authors' program: in the loss they count 1."""
    asked = MoObam(k=20, n_clusters=30, objective="lambda", lam=0.0001, gamma=gamma, gamma_in="assignment")
    problem = asked.build(GERMAN)
    swarm = Pso(swarm="authors", particles=5, iterations=3)
    solution = swarm.solve(problem, seed=1)
    assert solution.labels is None or problem.evaluate(solution.labels).feasible
    assert "around the centroids" in str(solution.details["remark"])
    with pytest.warns(UserWarning, match="NOT SAFE TO PUBLISH"):
        release = swarm.published(problem, seed=1)
    below = np.bincount(release.labels)[release.labels] < 20
    assert release.frame.columns[0] == BROKEN
    assert (release.frame[BROKEN].to_numpy() == below).all()
    assert release.people_below_k == below.sum() > 0
    # one class, one released combination, and the loss is that of the released values
    shown = release.frame[list(GERMAN.quasi)]
    assert shown.groupby(release.labels).nunique().max().max() == 1
    loss = ((GERMAN.frame["age"] - shown["age"]) ** 2).sum()
    loss += sum((GERMAN.frame[name] != shown[name]).sum() for name in ("personal_status", "job"))
    whole = ((GERMAN.frame["age"] - GERMAN.frame["age"].mean()) ** 2).sum()
    whole += sum((GERMAN.frame[name] != GERMAN.frame[name].mode()[0]).sum() for name in ("personal_status", "job"))
    assert release.loss == pytest.approx(loss / whole)


def test_what_keeps_k_has_no_label_and_no_warning() -> None:
    problem = MoObam(k=2, n_clusters=2, objective="lambda", lam=0.01).build(GERMAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = Pso(swarm="authors", particles=5, iterations=2).published(problem)
    assert release.broken == ""
    assert BROKEN not in release.frame.columns


def test_only_a_published_swarm_hands_out_what_may_break_k() -> None:
    problem = MoObam(k=5, n_clusters=4, objective="lambda", lam=0.01).build(GERMAN)
    with pytest.raises(InputError, match="authors"):
        Pso().published(problem)
    with pytest.raises(OptmodelsError, match="raw centroids"):
        Pso(swarm="authors").published(Aminifar(k=5).build(GERMAN))
