"""Column roles: what each column of a table is, and how the table is to be read.

`Roles` is the only place where roles are written out: role files, keyword arguments and the command line follow its
fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack, get_args

from optmodels.errors import InputError, nearest, unknown
from optmodels.files import write_whole
from optmodels.table import role_file
from optmodels.table.cleaning import Cleaning
from optmodels.table.reading import TextFormat
from optmodels.table.role_checks import (
    check_column_names,
    check_word,
    checked_bins,
    checked_number,
    checked_order,
    describable,
    listed,
    without,
)
from optmodels.table.role_types import AnyHierarchy, Bins, Kind, Missing, Others, Scaling, SomeRoles, Weighting

Taker = TypeVar("Taker", bound=Callable[..., Any])


def names_roles(function: Taker) -> Taker:
    """The function, with a signature that lists the roles it takes as keyword arguments: for `help` and notebooks."""
    found = signature(function)
    own = [one for one in found.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    others = [name for name in role_names() if name not in found.parameters]
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in others]
    function.__signature__ = found.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return function


def _role(title: str) -> dict[str, str]:
    """Of a field: it gives columns a role, which errors call so."""
    return {"role": title}


_DESCRIBES = {"describes": "columns"}  # of a field: it says more about some of the columns


@dataclass(frozen=True)
class Roles:
    """Everything about a table but its data; checked when made, and against columns by `columns_kept`.

    A column has one role; only a sensitive attribute may be the target as well, and an identifier the person.

    Attributes:
        quasi: quasi-identifiers and their kinds, which a release recodes.
        sensitive: what nobody is to learn about a person.
        identifiers: columns that name a person, always dropped.
        person: the column that says which records are of the same person, dropped as well; without it every record is
            a person. It may be one of the identifiers.
        target: the column that a classifier is to predict, released as it is.
        others: what becomes of all other columns: 'keep', 'drop', or a choice for each by name.
        missing: what becomes of missing values.
        scaling: how quasi-identifiers are made comparable: numbers and ranks by their standard deviation ('standard')
            or range ('range') or not at all ('none'), as papers do it; or all attributes, categories too, so that one
            class of everybody loses as much of each ('alike'), which is usual for files and role files.
        weights: what a quasi-identifier counts, 1 unless given; 'importance' makes it what it tells about the target,
            see `importance_weights`: a table's own roles then have the numbers.
        gamma: what a categorical mismatch costs.
        bins: edges that numeric sensitive attributes are cut at, or a number of quantiles.
        orders: values from lowest to highest, of ordinal quasi-identifiers and sensitive attributes.
        hierarchies: generalisation hierarchies, of quasi-identifiers and sensitive attributes, or what makes them of
            values, such as {'kind': 'prefix', 'keep': [3, 2]}; see `HierarchySpec`.
        dates: the formats of numeric quasi-identifiers that are dates, found out where they are empty; the kind 'date'
            says the same. They are measured in days, or in seconds if they have times, and released as dates.
        clean: what is done to values beforehand, see `Cleaning`; nothing unless asked for.
        ordered: sensitive attributes whose values have an order, of numbers or else of the alphabet.
        nominal: sensitive attributes whose values are names, all equally far apart, though they may be numbers.
        separator: what parts the cells of a text file that the table is read from; found out unless given.
        decimal: the decimal mark of its numbers, a point unless given.
        encoding: how its characters are written; found out unless given.

    >>> roles = Roles(quasi={"age": "numeric"}, sensitive=("illness",), identifiers=("name",))
    >>> roles.columns_kept(["name", "age", "illness"])
    ('age', 'illness')
    """

    quasi: Mapping[str, Kind] = field(metadata=_role("quasi-identifier"))
    sensitive: tuple[str, ...] = field(default=(), metadata=_role("sensitive"))
    identifiers: tuple[str, ...] = field(default=(), metadata=_role("identifier"))
    person: str | None = field(default=None, metadata=_role("person"))
    target: str | None = field(default=None, metadata=_role("target"))
    others: Others | Mapping[str, Literal["keep", "drop"]] = field(default="error", metadata=_role("other"))
    missing: Missing = "error"
    scaling: Scaling = "none"
    weights: Mapping[str, float] | Weighting = field(default_factory=dict, metadata=_DESCRIBES)
    gamma: float = 1.0
    bins: Mapping[str, Bins] = field(default_factory=dict, metadata=_DESCRIBES)
    orders: Mapping[str, Sequence[object]] = field(default_factory=dict, metadata=_DESCRIBES)
    hierarchies: Mapping[str, AnyHierarchy] = field(default_factory=dict, metadata=_DESCRIBES)
    dates: Mapping[str, str] = field(default_factory=dict, metadata=_DESCRIBES)
    clean: Cleaning = field(default_factory=Cleaning)
    ordered: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.quasi, Mapping) or not self.quasi:
            raise InputError(
                "Say which columns are quasi-identifiers and of which kind, e.g. quasi={'age': 'numeric', "
                "'postcode': 'categorical'}."
            )
        self._set("dates", {**{name: "" for name, kind in self.quasi.items() if kind == "date"}, **self.dates})
        self._set("quasi", {name: "numeric" if kind == "date" else kind for name, kind in self.quasi.items()})
        self._set("sensitive", listed(self.sensitive))
        self._set("identifiers", listed(self.identifiers))
        if isinstance(self.others, Mapping):
            self._set("others", dict(self.others) or "error")
        if isinstance(self.weights, str):
            check_word("way to weigh quasi-identifiers", self.weights, get_args(Weighting))
        weights = {name: checked_number(f"weight of '{name}'", w) for name, w in self.given_weights.items()}
        self._set("weights", self.weights if isinstance(self.weights, str) else weights)
        self._set("gamma", checked_number("gamma", self.gamma))
        self._set("bins", {name: checked_bins(name, bins) for name, bins in self.bins.items()})
        self._set("orders", {name: checked_order(name, order) for name, order in self.orders.items()})
        trees = {name: role_file.hierarchy(name, form, Path()) for name, form in self.hierarchies.items()}
        self._set("hierarchies", trees)
        self._set("clean", Cleaning.of(self.clean))
        self._set("ordered", listed(self.ordered))
        self._set("nominal", listed(self.nominal))
        self._check_words()
        self._check_one_role_each()
        self._check_descriptions()

    @property
    def given_weights(self) -> Mapping[str, float]:
        """The weights that are numbers already: none where they are yet to be found out."""
        return {} if isinstance(self.weights, str) else self.weights

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_words(self) -> None:
        for name in ("separator", "decimal", "encoding"):
            if not isinstance(getattr(self, name), str | None):
                raise InputError(f"The {name} must be text, not {getattr(self, name)!r}.")
        for name, kind in self.quasi.items():
            check_word(f"kind of quasi-identifier (asked for '{name}')", kind, get_args(Kind))
        check_word("missing-value policy", self.missing, get_args(Missing))
        check_word("scaling", self.scaling, get_args(Scaling))
        if isinstance(self.others, dict):
            for name, choice in self.others.items():
                check_word(f"choice for the other column '{name}'", choice, ("keep", "drop"))
        else:
            check_word("choice for other columns", self.others, get_args(Others))

    def _check_one_role_each(self) -> None:
        held: dict[str, list[str]] = {}
        for role, names in self._by_role():
            for name in names:
                if not isinstance(name, str):
                    raise InputError(f"Column names are text, not {name!r}; rename the column first.")
                held.setdefault(name, []).append(role)
        for name, roles in held.items():
            if len(roles) > 1 and roles not in (["sensitive", "target"], ["identifier", "person"]):
                raise InputError(f"Column '{name}' has two roles, {' and '.join(roles[:2])}; give it one.")

    def _by_role(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(_ROLES[name], _columns(name, getattr(self, name))) for name in _ROLES]

    def _check_descriptions(self) -> None:
        for setting in (*_DESCRIPTIONS, "ordered", "nominal"):
            allowed, who = describable(setting, self.quasi, self.sensitive)
            for name in self.given_weights if setting == "weights" else getattr(self, setting):
                if name not in allowed:
                    raise InputError(
                        f"{setting}= names '{name}', but it is for {who} only "
                        f"({', '.join(allowed) or 'there are none'}).{nearest(name, allowed)}"
                    )
        for name in self.clean.columns:
            if name not in self.complete:
                raise InputError(
                    f"clean= names '{name}', but only columns with a role are cleaned ({', '.join(self.complete)}); "
                    f"others come out as they went in.{nearest(name, self.complete)}"
                )
        for name in self.clean.clip:
            if not self.is_number(name):
                raise InputError(f"clean.clip names '{name}', which is not numeric: only numbers have ends.")
        for name in self.bins:
            if name in self.orders:
                raise InputError(f"Column '{name}' has both bins and an order; bins have an order already, keep one.")
        for name in self.nominal:
            if name in (*self.ordered, *self.orders, *self.bins):
                raise InputError(f"Column '{name}' is said to be nominal, and to have an order or bins; say one only.")

    @property
    def text_format(self) -> TextFormat:
        """How a text file that the table is read from is written."""
        return {"separator": self.separator, "decimal": self.decimal, "encoding": self.encoding}

    @property
    def encoded(self) -> tuple[str, ...]:
        """The columns whose values are numbered or measured: quasi-identifiers and sensitive attributes."""
        return (*self.quasi, *self.sensitive)

    @property
    def complete(self) -> tuple[str, ...]:
        """The columns that may have no missing value: those that are encoded, the target and the person."""
        return tuple(dict.fromkeys([*self.encoded, *_columns("target", self.target), *_columns("person", self.person)]))

    def is_number(self, name: str) -> bool:
        """Whether the values of a column must be numbers: a numeric quasi-identifier, or binned."""
        return self.quasi.get(name) == "numeric" or name in self.bins

    def absent(self, columns: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """The role and the name of every column that has a role and is not there."""
        present = set(columns)
        return tuple((role, name) for role, names in self._by_role() for name in names if name not in present)

    def undecided(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns without a role of which `others` does not say what to do either.

        >>> Roles(quasi={"age": "numeric"}).undecided(["age", "town"])
        ('town',)
        """
        return () if self.others in ("keep", "drop") else self._without_role(columns)

    def _without_role(self, columns: Iterable[str]) -> tuple[str, ...]:
        given = {name for _, names in self._by_role() for name in names}
        return tuple(name for name in columns if name not in given)

    def columns_kept(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns to keep, in their own order.

        Raises:
            InputError: a column that has a role is not there, or one that is there has none.
        """
        present = tuple(columns)
        check_column_names(present)
        for role, name in self.absent(present):
            raise InputError(
                f"There is no column '{name}' (named as {role}).{nearest(name, present)} "
                f"The columns are {', '.join(present)}."
            )
        if undecided := self.undecided(present):
            raise InputError(
                f"These columns have no role: {', '.join(undecided)}. Name them as quasi-identifiers (quasi=), "
                "sensitive=, target=, person= or identifiers= (always dropped), or decide on the rest with "
                "others='drop' or others='keep' (kept as they are), or one by one with others={name: 'keep' or 'drop'}."
            )
        left_out = {*self.identifiers, self.person, *(self._without_role(present) if self.others == "drop" else ())}
        if isinstance(self.others, dict):
            left_out.update(name for name, choice in self.others.items() if choice == "drop")
        return tuple(name for name in present if name not in left_out)

    def revised(self, **roles: Unpack[SomeRoles]) -> Roles:
        """The same roles with some of them replaced; what is not given, or None, stays.

        >>> Roles(quasi={"age": "numeric"}).revised(scaling="range").scaling
        'range'
        """
        return replace(self, **given_roles(**roles))

    def reassigned(self, **roles: Unpack[SomeRoles]) -> Roles:
        """The roles with some replaced, where a column that is given another role loses the one it had.

        >>> known = Roles(quasi={"age": "numeric", "town": "categorical"}, weights={"town": 2.0})
        >>> known.reassigned(sensitive="town")
        Roles(quasi={'age': 'numeric'}, sensitive=('town',), identifiers=(), person=None, target=None, ...)
        """
        given = given_roles(**roles)
        changed: dict[str, Any] = {}
        for name in _ROLES:
            taken = {
                column
                for other in _ROLES
                if other in given and {name, other} not in ({"sensitive", "target"}, {"identifiers", "person"})
                for column in _columns(other, given[other])
            }
            changed[name] = given[name] if name in given else without(getattr(self, name), taken)
        for setting in _DESCRIPTIONS:
            allowed, _ = describable(setting, changed["quasi"], listed(changed["sensitive"]))
            if setting == "weights" and isinstance(given.get(setting, self.weights), str):
                changed[setting] = given.get(setting, self.weights)
                continue
            present = self.given_weights if setting == "weights" else getattr(self, setting)
            kept = {column: value for column, value in present.items() if column in allowed}
            changed[setting] = {**kept, **given.get(setting, {})}
        for setting, other in (("ordered", "nominal"), ("nominal", "ordered")):
            newly = listed(given.get(setting))
            known = [name for name in getattr(self, setting) if name not in listed(given.get(other))]
            known = [name for name in known if name in listed(changed["sensitive"]) and name not in newly]
            changed[setting] = (*known, *newly)
        roled = ("quasi", "sensitive", "target", "person")
        encoded = {column for name in roled for column in _columns(name, changed[name])}
        steps = self.clean.without({name for name in self.clean.columns if name not in encoded})
        changed["clean"] = steps.with_more(given.get("clean", {}))
        return replace(self, **{**given, **changed})

    def save(self, path: str | Path) -> None:
        """Write the roles as TOML, to be reused on new data."""
        text = self.to_toml()
        write_whole(Path(path), lambda file: _write_text(file, text))

    def to_toml(self) -> str:
        """The roles as TOML text.

        >>> print(Roles(quasi={"age": "numeric"}, sensitive=("illness",)).to_toml().splitlines()[0])
        sensitive = ["illness"]
        """
        entries = {name: getattr(self, name) for name in role_names()}
        return role_file.written({**entries, "clean": self.clean.to_dict()})

    @classmethod
    def load(cls, path: str | Path) -> Roles:
        """Read roles from TOML; a hierarchy may also be the name of a CSV file beside it."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as problem:
            raise InputError(f"Cannot read the role file '{path}': {problem}.") from problem
        try:
            return cls.from_toml(text, folder=Path(path).parent)
        except InputError as problem:
            raise InputError(f"In the role file '{path}': {problem}") from problem

    @classmethod
    def from_toml(cls, text: str, *, folder: Path = Path()) -> Roles:
        """The roles written in TOML text; hierarchy files are looked for in `folder`."""
        return cls(**{"quasi": {}, "scaling": "alike", **role_entries(role_file.parsed(text), folder)})


def role_names() -> tuple[str, ...]:
    """The names of all roles and of what else is said about columns.

    >>> role_names()[:3]
    ('quasi', 'sensitive', 'identifiers')
    """
    return tuple(one.name for one in fields(Roles))


def given_roles(**roles: Unpack[SomeRoles]) -> dict[str, Any]:
    """Those of the keyword arguments that are not None.

    >>> given_roles(target="cured", sensitive=None)
    {'target': 'cured'}
    >>> given_roles(sensitve="illness")
    Traceback (most recent call last):
    optmodels.errors.InputError: There is no role 'sensitve'. Did you mean 'sensitive'? ...
    """
    for name in roles:
        if name not in role_names():
            raise unknown("role", name, role_names())
    return {name: value for name, value in roles.items() if value is not None}


def role_entries(given: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
    """The entries of a role file as keyword arguments; files of hierarchies are looked for in `folder`.

    >>> role_entries({"quasi": {"age": "numeric"}, "gamma": 2})
    {'quasi': {'age': 'numeric'}, 'gamma': 2}
    """
    if not isinstance(given, Mapping):
        raise InputError(
            f'Roles must be a table of entries, such as {{ quasi = {{ age = "numeric" }} }}, not {given!r}.'
        )
    for name, value in given.items():
        if name not in role_names():
            raise unknown("entry of a role file called", name, role_names())
        if name == "weights" and isinstance(value, str):
            continue
        if name in ("quasi", *_DESCRIPTIONS) and not isinstance(value, dict):
            raise InputError(f"'{name}' must be a table of column names, such as [{name}], not {value!r}.")
    trees = {name: role_file.hierarchy(name, form, folder) for name, form in given.get("hierarchies", {}).items()}
    return {**given, **({"hierarchies": trees} if trees else {})}


for _method in (Roles.revised, Roles.reassigned):
    names_roles(_method)

# The fields that give columns a role, by what errors call the role; and those that say more about columns.
_ROLES: dict[str, str] = {one.name: one.metadata["role"] for one in fields(Roles) if "role" in one.metadata}
_DESCRIPTIONS = tuple(one.name for one in fields(Roles) if "describes" in one.metadata)


def _columns(name: str, value: Any) -> tuple[str, ...]:
    """The columns that the field of this name and value gives its role."""
    if name == "others":
        return tuple(value) if isinstance(value, Mapping) else ()
    return () if value is None else listed(value) if name not in ("target", "person") else (value,)


def _write_text(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
