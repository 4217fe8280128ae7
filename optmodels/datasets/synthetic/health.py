"""Health records in the shape of those that MASS was tried on, any number of them, a block at a time.

A record depends on the seed, on `l_v` and on its own number alone: however many are drawn, and in whatever portions,
the first ones are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from optmodels.datasets.synthetic import chances
from optmodels.datasets.synthetic.chances import AGE_BANDS, BMI_BANDS, MOST_VALUES
from optmodels.errors import InputError, whole
from optmodels.files import write_whole
from optmodels.kernels import kernel
from optmodels.parallel import threads
from optmodels.table import Table
from optmodels.table.roles import Roles

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]
OnRows = Callable[[int], None]

BLOCK = 1 << 16  # records drawn at a time, from a random stream of their own
ROW_GROUP = 1 << 20  # records of a row group, a multiple of the block
BILL_BINS = 5
_AHEAD = 4  # blocks drawn while earlier ones are written

ROLES = Roles(
    quasi={"age": "numeric", "gender": "categorical", "zip": "categorical", "occupation": "categorical",
           "race": "categorical"},
    sensitive=("diagnosis", "treatment", "symptoms", "total_bill", "high_risk"),
    bins={"total_bill": BILL_BINS},
    others="keep",
)  # fmt: skip


@dataclass(frozen=True)
class HealthRecords:
    """Invented visits: 5 quasi-identifiers, 5 sensitive attributes and 6 other measurements (MASS, section 4.1).

    `l_v` is the number of diagnoses, which no sensitive attribute exceeds in values (the bill in five bins).

    >>> records = HealthRecords(l_v=7)
    >>> records.frame(3)[["age", "gender", "diagnosis", "high_risk"]]
       age  gender     diagnosis high_risk
    ...
    >>> records.frame(100_000).tail(1).equals(records.frame(200_000).iloc[99_999:100_000])
    True
    """

    l_v: int = 11
    seed: int = 0

    def __post_init__(self) -> None:
        whole("l_v", self.l_v, BILL_BINS, "the bill alone has so many bins")
        if self.l_v > MOST_VALUES:
            raise InputError(f"l_v must be at most {MOST_VALUES}, the number of diagnoses known here, not {self.l_v}.")
        whole("seed", self.seed, 0)

    def frame(self, rows: int) -> pd.DataFrame:
        """The first records; text is categories."""
        frame: pd.DataFrame = pa.Table.from_batches(self.batches(rows)).to_pandas()
        return frame

    def table(self, rows: int) -> Table:
        """The first records with the roles of the paper."""
        return Table.with_roles(self.frame(rows), ROLES)

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The first records block by block; later blocks are drawn while earlier ones are in use."""
        whole("rows", rows, 1)
        numbers = iter(range(-(-rows // BLOCK)))
        with threads(_AHEAD) as pool:
            waiting: list[Future[pa.RecordBatch]] = [pool.submit(self.block, b) for b in islice(numbers, _AHEAD)]
            left = rows
            while waiting:
                block = waiting.pop(0).result()
                waiting += [pool.submit(self.block, b) for b in islice(numbers, 1)]
                yield block.slice(0, left)
                left -= len(block)

    def write(self, path: str | Path, rows: int, *, on_rows: OnRows | None = None) -> Path:
        """Write the first records as Parquet, whole or not at all, holding a row group at a time.

        `on_rows` is told how many have been written.
        """
        whole("rows", rows, 1)
        return write_whole(path, lambda draft: self.fill(draft, rows, on_rows))

    def fill(self, path: Path, rows: int, on_rows: OnRows | None = None) -> None:
        """Write the first records into a file that may be left half-full if something goes wrong: see `write`."""
        blocks = self.batches(rows)
        written = 0
        with pa.parquet.ParquetWriter(path, self.block(0).schema) as writer:
            while group := list(islice(blocks, ROW_GROUP // BLOCK)):
                portion = pa.Table.from_batches(group)
                writer.write_table(portion, row_group_size=ROW_GROUP)
                written += len(portion)
                if on_rows is not None:
                    on_rows(written)

    @cached_property
    def _chances(self) -> dict[str, Floats]:
        treatments, symptoms = self._sizes
        return {
            "zip": chances.zips(),
            "race": chances.races(),
            "occupation": chances.occupations(),
            "diagnosis": chances.diagnoses(self.l_v),
            "treatment": chances.treatments(self.l_v, treatments),
            "symptoms": chances.symptoms(self.l_v, symptoms),
        }

    @property
    def _sizes(self) -> tuple[int, int]:
        """How many treatments and symptoms there are: fewer than diagnoses."""
        return max(3, round(0.7 * self.l_v)), max(3, round(0.85 * self.l_v))

    def block(self, number: int) -> pa.RecordBatch:
        """One block of records, always whole."""
        draw = np.random.default_rng([self.seed, self.l_v, number])

        def drawn(name: str, rows: NDArray[Any]) -> Codes:
            return np.asarray(pick(self._chances[name], rows, draw.random(BLOCK)))

        def noise(deviation: float) -> Floats:
            return draw.normal(0, deviation, BLOCK)

        age = np.clip(np.rint(18 + 77 * draw.beta(1.6, 2.0, BLOCK)), 18, 95)
        band = np.minimum((age - 18) // 10, AGE_BANDS - 1).astype(np.int64)
        years = (age - 50) / 20
        male = (draw.random(BLOCK) < 0.49).astype(np.int8)
        town = drawn("zip", np.zeros(BLOCK, np.int64))
        means = chances.affluence()[town]
        occupation, race = drawn("occupation", band), drawn("race", town)
        frailty = noise(1.0)
        bmi = np.clip(27.5 + 0.8 * years - 1.2 * means + 0.8 * frailty + noise(4.5), 15, 55).round(1)
        mass = np.digitize(bmi, (25.0, 31.0))
        diagnosis = drawn("diagnosis", (band * 2 + male) * BMI_BANDS + mass)
        treatment, symptoms = drawn("treatment", diagnosis), drawn("symptoms", diagnosis)
        severity = chances.SEVERITY[diagnosis]
        pressure = chances.PRESSURE[diagnosis]
        systolic = np.clip(118 + 9 * years + 0.6 * (bmi - 27) + pressure + 3 * frailty + noise(9), 80, 220).round()
        diastolic = np.clip(22 + 0.45 * systolic + noise(6), 45, 130).round()
        pulse = np.clip(73 - 2 * years + 2 * severity + 3 * frailty + noise(9), 40, 160).round()
        temperature = np.clip(36.7 + chances.FEVER[diagnosis] + noise(0.35), 35, 41.5).round(1)
        costs = np.log(chances.COSTS[treatment]) + 0.3 * severity + 0.15 * years + 0.4 * means
        bill = np.round(np.exp(costs + noise(0.6)), -1)
        odds = 0.35 + 0.55 * years + 0.6 * severity + 0.03 * (systolic - 122) + 0.04 * (bmi - 27) + 0.4 * frailty
        risk = (draw.random(BLOCK) < 1 / (1 + np.exp(-odds))).astype(np.int8)
        day = draw.integers(0, 3 * 365, BLOCK).astype("timedelta64[D]")
        treatments, symptom_count = self._sizes
        columns = {
            "age": age.astype(np.int16),
            "gender": _words(male, chances.GENDERS),
            "zip": _words(town, chances.ZIPS),
            "occupation": _words(occupation, chances.OCCUPATIONS),
            "race": _words(race, chances.RACES),
            "diagnosis": _words(diagnosis, chances.DIAGNOSES[: self.l_v]),
            "treatment": _words(treatment, chances.TREATMENTS[:treatments]),
            "symptoms": _words(symptoms, chances.SYMPTOMS[:symptom_count]),
            "total_bill": bill.astype(np.int32),
            "high_risk": _words(risk, ("no", "yes")),
            "visit_date": np.datetime64("2023-01-01") + day,
            "systolic": systolic.astype(np.int16),
            "diastolic": diastolic.astype(np.int16),
            "heart_rate": pulse.astype(np.int16),
            "bmi": bmi.astype(np.float32),
            "temperature": temperature.astype(np.float32),
        }
        return pa.RecordBatch.from_pydict(columns)


def health_like(n: int = 10_000, *, l_v: int = 11, seed: int = 0) -> Table:
    """A table of synthetic health records with the roles of the paper: see `HealthRecords`.

    >>> table = health_like(1000, l_v=7)
    >>> table.n, table.quasi, max(len(levels) for levels in table.sensitive_levels)
    (1000, ('age', 'gender', 'zip', 'occupation', 'race'), 7)
    """
    return HealthRecords(l_v, seed).table(n)


def _words(codes: Codes, words: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int8), pa.array(words))


@kernel(nogil=True)
def pick(cumulative: Floats, rows: NDArray[np.integer[Any]], uniforms: Floats) -> Codes:
    """For each uniform number the value whose share of the row's distribution it falls into."""
    found = np.empty(uniforms.size, np.int8)
    last = cumulative.shape[1] - 1
    for i in range(uniforms.size):
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if cumulative[rows[i], middle] > uniforms[i]:
                high = middle
            else:
                low = middle + 1
        found[i] = low
    return found
