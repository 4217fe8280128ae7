"""MO-OBAM's two objectives as one on the partition model: levels of entropy free, loss linear or on its curve."""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise

import pyomo.environ as pyo

from formulations._pyomo.partition_model import PartitionModel, decode
from formulations.mo_obam.least_loss import loss_share
from optmodels.partition import Labels
from optmodels.problem import View

# A curve this close to its chord is the chord: MILP solvers know their loss no better.
CURVE_TOLERANCE = 1e-9


def lambda_model(core: PartitionModel, lam: float) -> View[pyo.ConcreteModel]:
    """The model that minimises loss - lam * (sum of the levels)."""
    core.model.objective = pyo.Objective(expr=core.model.loss - lam * core.gibbs.free())
    return core.view()


def epsilon_model(core: PartitionModel, total_entropy: float) -> View[pyo.ConcreteModel]:
    """The model that minimises the loss where the levels sum to at least so many bits."""
    core.model.enough = pyo.Constraint(expr=core.gibbs.free() >= total_entropy)
    core.model.objective = pyo.Objective(expr=core.model.loss)
    return core.view()


def normalised_model(
    core: PartitionModel, lam: float, least_loss: float, most_entropy: float
) -> View[pyo.ConcreteModel]:
    """The model that minimises (1 - least_loss/loss) - lam * (sum of the levels)/most_entropy.

    The share of loss is concave, so that its chords lie below it: the model has the chords between breakpoints,
    and its cuts are further breakpoints, at the losses of the solutions found. There the chords are exact.
    """
    levels = core.gibbs.free()
    curve = LossShare(core.model, least_loss)
    core.model.objective = pyo.Objective(expr=core.model.share - lam / most_entropy * levels)

    def encode(labels: Labels) -> bool:
        if not core.encode(labels):
            return False
        curve.refine()
        curve.encode()
        return True

    def cuts(model: pyo.ConcreteModel) -> int:
        return core.gibbs.add(decode(model)) + curve.refine()

    return View(core.model, decode, encode, cuts)


class LossShare:
    """`model.share`: the chords of the loss share between breakpoints, one of them chosen by a binary."""

    def __init__(self, model: pyo.ConcreteModel, least: float) -> None:
        self.model = model
        self.least = least
        # No partition loses more than one class does, which is 1; the rounding of that sum stays inside.
        self.breaks = [0.0, least, max(1.0, least) * (1 + 1e-6)]
        model.share = pyo.Expression(expr=0.0)
        self._draw()

    def refine(self) -> int:
        """Put a breakpoint at the model's present loss unless the chord is exact there; how many were put."""
        loss = min(max(float(pyo.value(self.model.loss)), 0.0), self.breaks[-1])
        low, high = self._segment(loss)
        rise = (loss_share(high, self.least) - loss_share(low, self.least)) / (high - low)
        chord = loss_share(low, self.least) + rise * (loss - low)
        if loss_share(loss, self.least) - chord <= CURVE_TOLERANCE:
            return 0
        insort(self.breaks, loss)
        self._draw()
        return 1

    def encode(self) -> None:
        """Write the chord of the model's present loss into the variables."""
        loss = float(pyo.value(self.model.loss))
        chosen = self.breaks.index(self._segment(loss)[0])
        for s, variable in self.model.chords.chosen.items():
            variable.set_value(int(s == chosen))
            self.model.chords.loss[s].set_value(loss if s == chosen else 0.0)

    def _segment(self, loss: float) -> tuple[float, float]:
        place = min(max(bisect_right(self.breaks, loss), 1), len(self.breaks) - 1)
        return self.breaks[place - 1], self.breaks[place]

    def _draw(self) -> None:
        model = self.model
        model.del_component("chords")
        model.chords = chords = pyo.Block()
        segments = list(enumerate(pairwise(self.breaks)))
        chords.chosen = pyo.Var(range(len(segments)), domain=pyo.Binary)
        chords.loss = pyo.Var(range(len(segments)), bounds=(0.0, self.breaks[-1]))
        chords.one = pyo.Constraint(expr=sum(chords.chosen.values()) == 1)
        chords.whole = pyo.Constraint(expr=sum(chords.loss.values()) == model.loss)
        chords.inside = pyo.ConstraintList()
        share = 0.0
        for s, (low, high) in segments:
            chords.inside.add(chords.loss[s] >= low * chords.chosen[s])
            chords.inside.add(chords.loss[s] <= high * chords.chosen[s])
            at_low = loss_share(low, self.least)
            slope = (loss_share(high, self.least) - at_low) / (high - low)
            share += (at_low - slope * low) * chords.chosen[s] + slope * chords.loss[s]
        model.share.set_value(share)
