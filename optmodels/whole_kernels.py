"""Machine code for whole kernels: what a kernel calls is compiled with it, and only once.

numba makes machine code of every function as soon as it is compiled, together with all that it calls, so that a chain
of calls pays for its end at every link. Here a function stays what LLVM calls a module until Python wants to call it.
Then all that it calls is put together, optimised as one, and made into machine code; what only compiled code calls
never gets any of its own.

This leans on the insides of numba. Where they are not as expected (`EXPECTED`), numba goes its usual way, which takes
longer and computes the same.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from inspect import signature
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen as numba_codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment

_ENVIRONMENT = "_ZN08NumbaEnv"  # how numba's names of the constants of a function begin
_USED = (
    "_ensure_finalized",
    "_finalize_final_module",
    "_get_module_for_linking",
    "_optimize_final_module",
    "_raise_if_finalized",
    "add_linking_library",
    "get_pointer_to_function",
)
EXPECTED = all(hasattr(numba_codegen.JITCodeLibrary, name) for name in _USED) and all(
    hasattr(numba_codegen.JITCPUCodegen, name) for name in ("_library_class", "_check_llvm_bugs", "set_env")
)

# before 0.61 or so a manager of passes is made for a module
_BY_FUNCTION = set(signature(numba_codegen.JITCPUCodegen._function_pass_manager).parameters) == {"self", "kwargs"}


class Library(numba_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one function, which becomes machine code when a pointer to it is asked for."""

    _to_link: Any = None

    def add_linking_library(self, library: Any) -> None:
        """Name a library that this one calls."""
        if not isinstance(library, Library):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """Where the machine code of a function is; 0 where there is no such function."""
        if not self._finalized and not _defined(self._final_module, name):
            return 0
        return int(super().get_pointer_to_function(name))

    def _optimize_functions(self, module: Any) -> None:
        """Optimise what is defined, and lose no time with what is only named."""
        if not _BY_FUNCTION:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)

    def finalize(self) -> None:
        """Put all that is called together, optimise it, and make machine code."""
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        whole = self._final_module
        for library in self._called():
            if hasattr(self, "_reload_init"):  # not before numba 0.61: what is to be run when code is loaded again
                self._reload_init.update(library._reload_init)
            module = library._module() if isinstance(library, Library) else library._get_module_for_linking()
            whole.link_in(module, preserve=True)
        _keep_recursive(whole)
        self._optimize_final_module()
        whole.verify()
        self._finalize_final_module()
        for name in [one.name for one in whole.global_variables if one.name.startswith(_ENVIRONMENT)]:
            environment = lookup_environment(name)
            if environment is not None:
                type(self._codegen).set_env(self._codegen, name, environment)

    def _called(self) -> list[Any]:
        """All libraries that are called, however far down."""
        found: dict[Any, None] = {}
        ahead = self._linking_libraries[::-1]
        while ahead:
            library = ahead.pop()
            if library is not self and library not in found:
                found[library] = None
                if isinstance(library, Library) and not library._finalized:
                    ahead += library._linking_libraries[::-1]
        return list(found)

    def _module(self) -> Any:
        """The functions of this library alone, such that those that nobody calls are left out; whole, once they are."""
        if self._finalized:
            return self._get_module_for_linking()
        if self._to_link is None:
            self._to_link = self._final_module.clone()
            for function in self._to_link.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._to_link


def _defined(module: Any, name: str) -> bool:
    with suppress(NameError):
        return not module.get_function(name).is_declaration
    return False


def _keep_recursive(module: Any) -> None:
    """Functions that call each other in a circle are found by their names: they must not be optimised away."""
    prefix = numba_codegen.RuntimeLinker.PREFIX
    for name in [one.name.removeprefix(prefix) for one in module.global_variables if one.name.startswith(prefix)]:
        if _defined(module, name):
            module.get_function(name).linkage = "weak_odr"


@contextmanager
def whole_kernels(codegen: Any) -> Iterator[None]:
    """While it lasts, what is compiled becomes machine code only when Python wants to call it."""
    with global_compiler_lock:
        if not EXPECTED or "_library_class" in vars(codegen):
            yield
            return

        def set_env(name: str, environment: Any) -> None:
            """Constants are set where there is machine code that names them; `finalize` does it for the others."""
            if codegen._engine.is_symbol_defined(name):
                type(codegen).set_env(codegen, name, environment)

        codegen._library_class, codegen.set_env = Library, set_env
        collecting = gc.isenabled()
        gc.disable()  # millions of small objects that all live until the end: looking for garbage among them is in vain
        try:
            yield
        finally:
            if collecting:
                gc.enable()
            del codegen._library_class, codegen.set_env
