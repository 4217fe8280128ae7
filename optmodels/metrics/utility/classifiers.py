"""The classifiers of the published studies by name, with the libraries' own settings and one thread each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from optmodels.errors import InputError, MissingDependencyError, unknown


@dataclass(frozen=True)
class Classifier:
    """How a classifier is made from a seed; `scaled` says that it compares features and wants them standardised."""

    title: str
    make: Callable[[int], Any]
    scaled: bool = False
    needs: str | None = None  # a package that does not come with this one


def _decision_tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


def _extra_trees(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(random_state=seed)


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1)


def _linear_svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="linear", random_state=seed)


def _large_linear_svm(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed, dual="auto")


def _rbf_svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(random_state=seed)


def _logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=seed)


def _naive_bayes(_: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _nearest_neighbours(_: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier()


def _gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(random_state=seed)


def _perceptron(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(random_state=seed)


CLASSIFIERS: Mapping[str, Classifier] = {
    "dt": Classifier("decision tree", _decision_tree),
    "rf": Classifier("random forest", _random_forest),
    "ert": Classifier("extremely randomised trees", _extra_trees),
    "xgboost": Classifier("XGBoost", _xgboost, needs="xgboost"),
    "svm": Classifier("linear support vector machine", _linear_svm, scaled=True),
    "svm-large": Classifier("linear support vector machine for many rows", _large_linear_svm, scaled=True),
    "svm-rbf": Classifier("support vector machine with Gaussian kernel", _rbf_svm, scaled=True),
    "lr": Classifier("logistic regression", _logistic_regression, scaled=True),
    "nb": Classifier("Gaussian naive Bayes", _naive_bayes),
    "knn": Classifier("k nearest neighbours", _nearest_neighbours, scaled=True),
    "gb": Classifier("gradient boosting", _gradient_boosting),
    "mlp": Classifier("neural network (one hidden layer)", _perceptron, scaled=True),
}
USUAL = ("dt", "rf", "lr", "nb")


def known_once(what: str, names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names as given, or an error for one that is unknown or twice there, or where there is none.

    >>> known_once("metric", ["f1"], ["f1", "mcc"])
    ('f1',)
    """
    if isinstance(names, str):
        raise InputError(f"Give a list of {what}s, such as ['{names}'], not the text '{names}'.")
    chosen = tuple(names)
    if not chosen:
        raise InputError(f"Name at least one {what}: {', '.join(known)}.")
    for place, name in enumerate(chosen):
        if name not in known:
            raise unknown(what, name, known)
        if name in chosen[:place]:
            raise InputError(f"The {what} '{name}' is named twice.")
    return chosen


def checked_classifiers(names: Iterable[str]) -> tuple[str, ...]:
    """The names as given, or an error for one that is unknown, twice there, or not installed.

    >>> checked_classifiers(["rf", "lr"])
    ('rf', 'lr')
    >>> checked_classifiers(["svn"])
    Traceback (most recent call last):
    optmodels.errors.InputError: There is no classifier 'svn'. Did you mean 'svm'? ...
    """
    chosen = known_once("classifier", names, CLASSIFIERS)
    for name in chosen:
        package = CLASSIFIERS[name].needs
        if package is not None and find_spec(package) is None:
            raise MissingDependencyError(
                f"The classifier '{name}' needs the package '{package}', which is not installed: install "
                "'optmodels[study]', or leave it out."
            )
    return chosen


def available() -> tuple[str, ...]:
    """The names of all classifiers that are installed here.

    >>> "rf" in available()
    True
    """
    return tuple(name for name, known in CLASSIFIERS.items() if known.needs is None or find_spec(known.needs))


def pipeline(name: str, seed: int, *, scale: bool = True) -> Any:
    """An unfitted classifier behind imputation by training means and, where it compares features, standardisation.

    >>> [step for step, _ in pipeline("lr", 0).steps]
    ['impute', 'scale', 'classify']
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    known = CLASSIFIERS[checked_classifiers([name])[0]]
    steps: list[tuple[str, Any]] = [("impute", SimpleImputer(keep_empty_features=True))]
    if scale and known.scaled:
        steps.append(("scale", StandardScaler()))
    return Pipeline([*steps, ("classify", known.make(seed))])
