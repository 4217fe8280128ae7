"""Machine-learning utility: what classifiers learn from a release, beside what they learn from the original.

Three ways in, one protocol (`Protocol`: classifiers, metrics, splits, which rows are asked about) and one answer
(`Utility`: scores of every trial; `summary` with retention in % and Mann-Whitney U, `overfit`, `shifts` of feature
importance, `figure()`, `to_dict()`):

- `utility(table, labels)`: partitions of a table (or frames in its order), splits by person;
- `utility_of_method(table, anonymise)`: the rows to learn from are anonymised anew in every split;
- `utility_of_frames(original, release, target=...)`: two frames, as files give them.

Classifiers by name: dt, rf, ert, xgboost, svm (linear), svm-large (linear, for many rows), svm-rbf, lr, nb, knn, gb
and mlp. Metrics by name: f1, f1_macro, f1_weighted, accuracy, mcc, recall, recall_macro, precision, auc.

>>> import optmodels as om
>>> table = om.dataset("german")
>>> classes = table.frame["age"].to_numpy() // 10
>>> how = Protocol(classifiers=("dt", "nb"), metrics=("recall",), tested_on="release", splits=3, jobs=1)
>>> found = utility(table, {"decades": classes, "halves": classes // 5}, how)
>>> found.versions
('decades', 'halves')
>>> bool(0 < found.mean("recall", "decades") < 1)  # over the classifiers; `classifiers=found.screened()` for some
True
"""

from optmodels.metrics.utility.classifiers import CLASSIFIERS, available
from optmodels.metrics.utility.features import FeatureSpace
from optmodels.metrics.utility.measure import utility, utility_of_frames, utility_of_method
from optmodels.metrics.utility.protocol import Protocol
from optmodels.metrics.utility.result import OVERFIT_GAP, Utility
from optmodels.metrics.utility.scoring import METRICS

__all__ = [
    "CLASSIFIERS",
    "METRICS",
    "OVERFIT_GAP",
    "FeatureSpace",
    "Protocol",
    "Utility",
    "available",
    "utility",
    "utility_of_frames",
    "utility_of_method",
]
