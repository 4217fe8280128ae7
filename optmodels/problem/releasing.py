"""What is released of a table by a partition, as the model has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.metrics.loss import attribute_losses
from optmodels.partition import LEFT_OUT, Labels
from optmodels.problem.judge import Judge
from optmodels.release import Method, Release, Suppressed
from optmodels.release import release as make_release


class Releasing(Judge):
    """The half of a problem that turns partitions into releases."""

    release_method: ClassVar[Method] = "centroid"

    def release(
        self, labels: NDArray[np.integer[Any]], *, method: Method | None = None, suppressed: Suppressed = "drop"
    ) -> Release:
        """The table recoded by a partition, audited against this problem's conditions.

        Records that are left out are dropped, or with `suppressed="star"` are rows that say nothing.
        """
        classes = self.check(labels)
        own = method in (None, self.release_method)
        loss, facts = self.release_notes(classes) if own else (None, {})
        return make_release(
            self.table,
            classes,
            promise=self.conditions,
            method=method or self.release_method,
            suppressed=suppressed,
            levels=self.release_levels(classes) if own else None,
            loss=loss,
            provenance={"formulation": self.formulation.name, "parameters": self.formulation.to_dict(), **facts},
        )

    def release_levels(self, classes: Labels) -> NDArray[np.int64] | None:
        """(classes, quasi) the levels of hierarchies that classes are released on, in models that choose them."""
        return None

    def release_notes(self, classes: Labels) -> tuple[Mapping[str, float] | None, dict[str, object]]:
        """What else a model has to say with a release: about its loss, and about how it was made."""
        return None, {}

    def attribute_losses(self, labels: NDArray[np.integer[Any]]) -> dict[str, float]:
        """What the release of a partition loses of each quasi-identifier, of what one class of everybody would lose."""
        classes = self.check(labels)
        kept = np.flatnonzero(classes != LEFT_OUT)
        part = self.table if len(kept) == self.n else self.table.part(kept)
        losses = attribute_losses(part, classes[kept], self.release_method, levels=self.release_levels(classes))
        return {name: loss + (self.n - len(kept)) / self.n for name, loss in losses.items()}


def released(
    problem: Releasing, labels: NDArray[np.integer[Any]], method: Method | None, suppressed: Suppressed
) -> Release:
    """The release of a partition; a model with a way of its own to release need not know of records left out."""
    if suppressed == "drop":
        return problem.release(labels, method=method)
    return problem.release(labels, method=method, suppressed=suppressed)
