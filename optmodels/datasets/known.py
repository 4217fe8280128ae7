"""The data of the published studies, with the roles the papers give the columns.

A file is looked for in the package, in the folder that the environment variable `OPTMODELS_DATA` names, and in
a folder of the user's own; failing that it is downloaded where it has a public address, and checked.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import pandas as pd

from optmodels.datasets.synthetic import health, sepsis
from optmodels.errors import InputError, unknown
from optmodels.files import write_whole
from optmodels.table import Table
from optmodels.table.reading import read_frame
from optmodels.table.role_types import Kind, SomeRoles
from optmodels.table.roles import Roles, names_roles

_BUNDLED = Path(__file__).parent / "data"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_SECONDS = 60


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GERMAN_COLUMNS = _words(
    "checking_status duration credit_history purpose credit_amount savings_status employment installment_rate "
    "personal_status other_parties residence_since property_magnitude age other_payment_plans housing "
    "existing_credits job num_dependents own_telephone foreign_worker class"
)
ADULT_COLUMNS = _words(
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
    "capital_loss hours_per_week native_country salary"
)


@dataclass(frozen=True)
class Source:
    """One file: its name in a data folder, its SHA-256 and its public address, where it has one."""

    file: str
    sha256: str
    address: str | None = None


@dataclass(frozen=True)
class Dataset:
    """What is known about a data set before it is read."""

    name: str
    title: str
    rows: int
    roles: Roles
    sources: tuple[Source, ...]
    origin: str
    licence: str
    bundled: bool = False


def _all_numeric(names: str) -> dict[str, Kind]:
    return dict.fromkeys(_words(names), "numeric")


_UCI_LICENCE = "CC BY 4.0"
_CASC = "CASC reference microdata, as distributed with sdcMicro"
_LIANG = "IPUMS census extracts, from Liang and Samavi's repository"
_RESEARCH = "for research, see the source"

_GERMAN = Dataset(
    "german",
    "Statlog German credit",
    1000,
    Roles(
        quasi={"age": "numeric", "personal_status": "categorical", "job": "categorical"},
        sensitive=("checking_status", "savings_status"),
        target="class",
        others="drop",
    ),
    (
        Source(
            "german.data",
            "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
            f"{_UCI}/statlog/german/german.data",
        ),
    ),
    "UCI Machine Learning Repository, H. Hofmann 1994",
    _UCI_LICENCE,
    bundled=True,
)
_ADULT = Dataset(
    "adult",
    "Adult (census income), complete records",
    45222,
    Roles(
        quasi={"age": "numeric", "race": "categorical", "sex": "categorical", "marital_status": "categorical"},
        sensitive=("occupation",),
        target="salary",
        others="drop",
    ),
    (
        Source(
            "adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            f"{_UCI}/adult/adult.data",
        ),
        Source(
            "adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            f"{_UCI}/adult/adult.test",
        ),
    ),
    "UCI Machine Learning Repository, B. Becker and R. Kohavi 1996",
    _UCI_LICENCE,
)
_HEART = Dataset(
    "heart",
    "Heart disease, Cleveland, with family history",
    282,
    Roles(
        quasi=_all_numeric("age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"),
        sensitive=("famhist",),
        target="num",
        missing="impute",
    ),
    (Source("heart_cleveland.csv", "6b7f070214da59f4a0f30e1eccecaf4438fb0d6d6c6b062c7949478d50df22ad"),),
    "UCI Machine Learning Repository, the records of Aminifar et al. 2021",
    _UCI_LICENCE,
)


def _numbers(name: str, title: str, rows: int, columns: str, digest: str, origin: str) -> Dataset:
    """A file of numbers for research, all of its columns quasi-identifiers."""
    roles, sources = Roles(quasi=_all_numeric(columns)), (Source(f"{name}.csv", digest),)
    return Dataset(name, title, rows, roles, sources, origin, _RESEARCH)


_CENSUS = _numbers(
    "census",
    "Census, CASC reference microdata",
    1080,
    "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL",
    "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b",
    _CASC,
)
_TARRAGONA = _numbers(
    "tarragona",
    "Tarragona companies, CASC reference microdata",
    834,
    "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES "
    "LABOR.COSTS DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT",
    "d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4",
    _CASC,
)
_PERSON20 = _numbers(
    "person20",
    "Twenty people, Liang and Samavi's example",
    20,
    "AGE SEX INJ_SEV DRINKING",
    "6910411a6312e880697b2cad8debd87a65d505ac0e087e6b76f2d4dbe43d4383",
    _LIANG,
)
_CENSUS_20K = _numbers(
    "census_20k",
    "Census extract, 20,000 records",
    20_000,
    "SEX AGE MARST RACE",
    "9cb6329a0a0b7c9a4aa6f0bb8ab14244efd7ddb28646d0b9bc4b3fbd3c7e266b",
    _LIANG,
)
_CENSUS_100K = _numbers(
    "census_100k",
    "Census extract, 100,000 records",
    100_000,
    "SEX AGE MARST RACE",
    "05fd45c6eb4cdd2b4d27658d1bff139bcfbc658c9117b585b16c1b63f3146723",
    _LIANG,
)
_IPUMS = _numbers(
    "ipums_1k_8attr",
    "Census extract, 1,000 records with 8 attributes",
    1000,
    "SEX AGE MARST RACE BPL HIGRADE CLASSWKRD OCCSCORE",
    "450380baf5293288871135f1130954c4cb3c677cddbe0e40bd94f191ac6841f6",
    _LIANG,
)

_INVENTED = "drawn by this package, see optmodels.datasets.synthetic"
_HEALTH = Dataset(
    "health",
    "Synthetic health records in the shape of MASS's",
    10_000,
    health.ROLES,
    (),
    _INVENTED,
    "none needed",
)
_SEPSIS = Dataset(
    "sepsis",
    "Synthetic hospital stays in the shape of MO-OBAM's sepsis table",
    sepsis.SEPSIS_RECORDS,
    sepsis.ROLES,
    (),
    _INVENTED,
    "none needed",
)

DATASETS: Mapping[str, Dataset] = {
    one.name: one
    for one in (
        *(_GERMAN, _ADULT, _HEART, _CENSUS, _TARRAGONA, _PERSON20, _CENSUS_20K, _CENSUS_100K, _IPUMS),
        *(_HEALTH, _SEPSIS),
    )
}


def dataset(name: str) -> Dataset:
    """What is known about a data set.

    >>> dataset("german").rows
    1000
    """
    if name not in DATASETS:
        raise unknown("dataset", name, DATASETS)
    return DATASETS[name]


def frame(name: str) -> pd.DataFrame:
    """All columns of a data set (of Adult, the records without a missing value).

    >>> frame("german").shape
    (1000, 21)
    """
    known = dataset(name)
    files = [locate(source) for source in known.sources]
    match name:
        case "health":
            return health.HealthRecords().frame(known.rows)
        case "sepsis":
            return sepsis.sepsis_like(known.rows).frame
        case "german":
            found = pd.read_csv(files[0], sep=" ", names=GERMAN_COLUMNS)
        case "adult":
            found = pd.concat([_read_adult(file) for file in files], ignore_index=True).dropna(ignore_index=True)
        case _:
            found = read_frame(files[0])
    if len(found) != known.rows:
        raise InputError(
            f"'{files[0]}' is not the {known.title} data set: {len(found)} records instead of {known.rows}."
        )
    return found


def _read_adult(file: Path) -> pd.DataFrame:
    # the test file opens with a line of its own, "|1x3 Cross validator", and ends its labels with a full stop
    rows = pd.read_csv(file, names=ADULT_COLUMNS, skipinitialspace=True, na_values="?", comment="|")
    return rows.assign(salary=rows["salary"].str.rstrip("."))


@names_roles
def load(name: str, **roles: Unpack[SomeRoles]) -> Table:
    """A data set as a table, with the roles of the papers unless others are given.

    >>> load("german").sensitive
    ('checking_status', 'savings_status')
    """
    return Table.with_roles(frame(name), dataset(name).roles.revised(**roles))


def cache_folder() -> Path:
    """Where downloaded data is kept for this user."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "optmodels"


def locate(source: Source) -> Path:
    """The file of a source on this machine, downloaded if need be."""
    mirror = os.environ.get("OPTMODELS_DATA")
    folders = [_BUNDLED, *([Path(mirror), Path(mirror) / "liang"] if mirror else []), cache_folder()]
    for folder in folders:
        if (folder / source.file).is_file():
            return folder / source.file
    if source.address is None:
        raise InputError(
            f"The file '{source.file}' is not on this machine and has no public address. Put it into a folder and "
            f"name that folder in the environment variable OPTMODELS_DATA, or put it into '{cache_folder()}'."
        )
    return download(source, cache_folder())


def download(source: Source, folder: Path) -> Path:
    """Fetch a file into a folder; it appears there only once it is complete and has the SHA-256 it should have."""
    if source.address is None:
        raise InputError(f"The file '{source.file}' has no public address.")
    by_hand = f"Put the file '{source.file}' into '{folder}', or into the folder that OPTMODELS_DATA names"
    try:
        with urllib.request.urlopen(source.address, timeout=_SECONDS) as answer:
            content: bytes = answer.read()
    except OSError as problem:  # no connection, no such page, too slow: urllib's errors are all of this kind
        raise InputError(f"Cannot download {source.address}: {problem}. {by_hand}.") from problem
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise InputError(
            f"{source.address} does not hold the expected file: its SHA-256 is {found}, not {source.sha256}. {by_hand}."
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / source.file, lambda file: _write_bytes(file, content))
    return folder / source.file


def _write_bytes(file: Path, content: bytes) -> None:
    file.write_bytes(content)
