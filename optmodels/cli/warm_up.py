"""`optmodels warm-up`: compile the solvers' kernels once, so that no first run has to wait for them."""

from __future__ import annotations

from time import perf_counter

_SECONDS = 1.0
_ROUNDS = 6  # at most: what is compiled uses up the second, and what comes after it is compiled in the next round


def warm_up() -> None:
    """Compile the solvers' kernels (about two minutes, once); compiled code is kept beside the package."""
    from optmodels import registry
    from optmodels.cli import show
    from optmodels.errors import MissingDependencyError, NoSolutionError, RefusedError
    from optmodels.testing import small_table

    problems = [
        registry.configured(registry.formulation(name), parameters).build(small_table(30, sensitive=2))
        for name, parameters in (
            ("microaggregation", {"k": 3, "distinct_l": 2}),
            ("liang-samavi", {"k": 3}),
            ("mo-obam", {"k": 3, "n_clusters": 2}),
            ("mass", {"k": 3, "classifiers": ()}),
        )
    ]
    # Every class of a table is listed for a front: few records do.
    problems.append(registry.configured(registry.formulation("mo-obam"), {"k": 3}).build(small_table(8)))
    numbers = small_table(30, categorical=0, values=2)
    problems.append(registry.configured(registry.formulation("aminifar"), {"n_clusters": 3}).build(numbers))
    # One ordered attribute under k alone has an optimal solver of its own.
    ages = small_table(30, numeric=1, categorical=0)
    problems.append(registry.configured(registry.formulation("microaggregation"), {"k": 3}).build(ages))
    # Levels of hierarchies under k alone, under a least uncertainty, and with too much disclosed.
    flags, generalised = small_table(30, values=2), registry.formulation("majeed-hwang")
    for more in ({}, {"threshold": 0.3}, {"most_disclosure": 0.6}):
        model = registry.configured(generalised, {"k": 3, "trees": 2, "levels": "least", **more})
        problems.append(model.build(flags))
    constructions = (
        "mdav",
        "mondrian",
        "zheng",
        "univariate",
        "liang-greedy",
        "liang-split",
        "usefulness",
        "generalise",
        "mass",
    )
    for name in (*constructions, "local_search", "blocks", "columns", "network", "epsilon", "nsga2", "pso"):
        for problem in problems:
            for _ in range(_ROUNDS):
                began = perf_counter()
                try:
                    registry.solver(name)().solve(problem, time_limit=_SECONDS).release()
                except NoSolutionError:
                    pass  # too little time for a result
                except (RefusedError, MissingDependencyError):
                    break
                if perf_counter() - began < 2 * _SECONDS:
                    break
        show.say(f"{name} is ready.")
