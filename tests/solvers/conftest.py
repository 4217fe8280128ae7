from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", params=["dense", "sparse"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Everything twice: with small transports as they come, in POT, and with none of them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "sparse":
            patch.setattr("solvers.network._network.MOST_ARCS", 0)
        yield request.param
