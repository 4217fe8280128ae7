"""How many records are compared, all pairs of them: equal ones once."""

from __future__ import annotations

import numpy as np

from optmodels.partition import group_rows
from optmodels.structures import Priced

MOST_COPIES = 100_000  # records among which it is worth asking how many differ


def compared_records(priced: Priced, most: int) -> int:
    """The records there are; if these are more than `most`, the different ones, where nothing but size matters.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61] * 20}), quasi={"age": "numeric"})
    >>> priced = Microaggregation(k=3).build(table).require(Priced)
    >>> compared_records(priced, 100), compared_records(priced, 10)
    (40, 2)
    """
    price = priced.compiled
    if priced.n <= most or priced.n > MOST_COPIES or price is None or not priced.test.only_size:
        return priced.n
    if priced.largest is None or priced.n_classes is not None:
        return priced.n
    columns = [*price.numeric.T, *price.codes.T]
    return int(np.max(group_rows(columns))) + 1 if columns else 1
