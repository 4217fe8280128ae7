"""Public names: each can be imported, is listed, and costs nothing until it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from optmodels import registry
from optmodels.errors import OptmodelsError

PACKAGES = ("optmodels", "formulations", "solvers")
HEAVY = ("numba", "pandas", "numpy", "scipy", "pyarrow", "pyomo", "pymoo", "sklearn", "plotly", "highspy", "typer")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported_and_is_listed(package: str) -> None:
    module = import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    taken: dict[str, object] = {}
    exec(f"from {package} import *", taken)
    assert set(module.__all__) <= set(taken)


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_are_told_the_same_names(package: str) -> None:
    module = import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imported = {
        alias.asname or alias.name: (statement.module, alias.name)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    # an import under another name is no export to type checkers: such a name is assigned
    given = [statement for statement in block.body if isinstance(statement, ast.Assign)]
    renamed = {ast.unparse(statement.targets[0]): ast.unparse(statement.value) for statement in given}
    told = {name: place for name, place in imported.items() if name not in renamed.values()}
    told |= {name: imported[original] for name, original in renamed.items()}
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(told) == set(module.__all__) - own
    for name, (home, original) in told.items():
        assert getattr(module, str(name)) is getattr(import_module(str(home)), original)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_does_not_exist(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nosuch'"):
        import_module(package).Nosuch  # noqa: B018


def test_every_registered_class_of_ours_is_exported() -> None:
    for package, kinds in (
        ("formulations", [registry.formulation(name) for name in registry.formulation_names()]),
        ("solvers", [registry.solver(name) for name in registry.solver_names()]),
    ):
        exported = {getattr(import_module(package), name) for name in import_module(package).__all__}
        assert {kind for kind in kinds if kind.__module__.startswith(package)} <= exported


def test_every_error_is_exported() -> None:
    import optmodels

    # those of an application, such as a study, are its own and only there once it was imported
    errors = {
        kind for kind in [OptmodelsError, *OptmodelsError.__subclasses__()] if kind.__module__ == "optmodels.errors"
    }
    assert errors <= {getattr(optmodels, name) for name in optmodels.__all__}


@pytest.mark.parametrize("package", ["optmodels", "formulations", "optmodels.cli"])
def test_nothing_heavy_is_imported_along(package: str) -> None:
    allowed = ("typer",) if package == "optmodels.cli" else ()
    script = f"import sys, {package}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert set(found) <= set(allowed)


def test_the_version() -> None:
    import optmodels

    assert optmodels.__version__.count(".") >= 1
    assert "__version__" not in optmodels.__all__
