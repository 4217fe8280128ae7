from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.study import DatasetSpec, FormulationSpec, Limits, SolverSpec, Study, load_study, study_from_toml
from optmodels.study.building import planned, problem_of, table_of
from optmodels.study.trials import trials_of

PARTS = '[[dataset]]\nname = "german"\n[[formulation]]\nname = "microaggregation"\nparameters.k = 3\n'
WHOLE = PARTS + '[[solver]]\nname = "mdav"\n'


def test_a_file_and_python_declare_the_same_study(tmp_path: Path) -> None:
    (tmp_path / "leute.csv").write_text("alter,ort\n1,Köln\n2,Köln\n3,Ulm\n", encoding="utf-8")
    path = tmp_path / "größen.toml"
    path.write_text(
        """
        seeds = [0, 7]
        threads = 2
        [limits]
        time = 2
        memory = "1 GB"
        [[dataset]]
        name = "german"
        rows = [50, 60]
        roles.scaling = "standard"
        [[dataset]]
        file = "leute.csv"
        label = "Köln"
        roles.quasi = { alter = "numeric", ort = "categorical" }
        [[formulation]]
        name = "microaggregation"
        parameters.k = [2, 3]
        [[solver]]
        name = "local_search"
        options.iterations = [10, 20]
        options.workers = 1
        limits.time = 9
        [[solver]]
        name = "pyomo:appsi_highs"
        [[solver]]
        name = "pso"
        options.lambdas = [[0.1, 1.0]]
        """,
        encoding="utf-8",
    )
    study = Study(
        "größen",
        [
            DatasetSpec("german", rows=[50, 60], roles={"scaling": "standard"}),
            DatasetSpec(
                file=tmp_path / "leute.csv",
                label="Köln",
                roles={"quasi": {"alter": "numeric", "ort": "categorical"}},
            ),
        ],
        [FormulationSpec("microaggregation", {"k": [2, 3]})],
        [
            SolverSpec("local_search", {"iterations": [10, 20], "workers": 1}, limits={"time": 9}),
            SolverSpec("pyomo:appsi_highs"),
            SolverSpec("pso", {"lambdas": [[0.1, 1.0]]}),
        ],
        seeds=[0, 7],
        limits=Limits(time=2, memory="1 GB"),
        threads=2,
    )
    found = trials_of(load_study(path))
    assert found == trials_of(study)
    assert len(found) == study.size == 3 * 2 * 4 * 2
    assert len({trial.key for trial in found}) == len(found)
    assert {trial.dataset for trial in found} == {"german[50]", "german[60]", "Köln"}
    by_solver = {trial.solver: trial for trial in found}
    assert by_solver["local_search(iterations=20)"].limits["time"] == 9
    assert (by_solver["pyomo:appsi_highs"].method, by_solver["pyomo:appsi_highs"].options) == (
        "milp",
        {"solver": "appsi_highs"},
    )
    assert by_solver["pso"].options == {"lambdas": (0.1, 1.0)}


def test_conditions_of_single_attributes_are_declared_as_in_a_script() -> None:
    asked = (
        "parameters.k = 3\nparameters.t = [0.4, {checking_status = 0.3}]\nparameters.recursive = [[3, 2]]\n"
        'parameters.t_distance = "variational"\n'
    )
    (scalar, named) = trials_of(study_from_toml(WHOLE.replace("parameters.k = 3\n", asked)))
    table = table_of(scalar.source)
    assert problem_of(scalar, table).conditions == Conditions(3, t=0.4, recursive=(3, 2), t_distance="variational")
    assert problem_of(named, table).conditions.of("checking_status").t == 0.3
    assert problem_of(named, table).conditions.of("savings_status").t is None
    with pytest.raises(InputError, match="recursive must be a pair"):
        planned(study_from_toml(WHOLE.replace("parameters.k = 3", "parameters.k = 3\nparameters.recursive = [3, 2]")))


def test_seeds_depend_on_what_is_run_alone() -> None:
    small = trials_of(study_from_toml(WHOLE))[0]
    large = study_from_toml(
        "seeds = 3\n" + WHOLE + '[[solver]]\nname = "mondrian"\n[[dataset]]\nname = "german"\nrows = 9\nlabel = "few"\n'
    )
    found = trials_of(large)
    assert next(trial for trial in found if trial.key == small.key) == small
    same_problem = [t for t in found if (t.dataset, t.repetition) == ("german", 0)]
    assert len({t.build_seed for t in same_problem}) == 1  # all solvers are given the same problem
    assert len({t.seed for t in same_problem}) == 2
    # A solver's repetitions are of one problem, or the best known value of any would say nothing of the others.
    assert len({t.build_seed for t in found}) == len({t.dataset for t in found}) == 2


def test_what_a_formulation_draws_varies_only_where_that_is_asked_for() -> None:
    drawn = trials_of(
        study_from_toml(WHOLE.replace('name = "microaggregation"', 'name = "microaggregation"\ndraws = 3'))
    )
    assert len({t.build_seed for t in drawn}) == len({t.model for t in drawn}) == len({t.key for t in drawn}) == 3
    assert {t.model.split("draw=")[1] for t in drawn} == {"0)", "1)", "2)"}
    assert drawn[0].build_seed == trials_of(study_from_toml(WHOLE))[0].build_seed  # more draws change none
    with pytest.raises(InputError, match="draws of 'microaggregation' must be"):
        FormulationSpec("microaggregation", {"k": 3}, draws=0)


def test_sizes_of_one_dataset_and_files_of_one_family_belong_together(tmp_path: Path) -> None:
    text = WHOLE.replace('name = "german"', 'name = "german"\nrows = [40, 80]')
    assert {(t.dataset, t.family) for t in trials_of(study_from_toml(text))} == {
        ("german[40]", "german"),
        ("german[80]", "german"),
    }
    files = "[[dataset]]\nname = 'german'\nrows = 9\nlabel = 'x[9]'\nfamily = 'people'\n"
    assert {t.family for t in trials_of(study_from_toml(WHOLE + files))} == {"german", "people"}


def test_labels_do_not_make_another_run_and_limits_do() -> None:
    plain = trials_of(study_from_toml(WHOLE))[0].key
    assert trials_of(study_from_toml(WHOLE + 'label = "other"\n'))[0].key == plain
    assert trials_of(study_from_toml(WHOLE + "limits.time = 3\n"))[0].key != plain


def test_contents_of_a_file_make_another_run_and_its_place_does_not(tmp_path: Path) -> None:
    def key(path: Path, text: str) -> str:
        path.write_text(text)
        data = DatasetSpec(file=path, label="x", roles={"quasi": {"a": "numeric"}})
        model = FormulationSpec("microaggregation", {"k": 2})
        return trials_of(Study("s", [data], [model], [SolverSpec("mdav")]))[0].key

    assert key(tmp_path / "a.csv", "a\n1\n2\n") == key(tmp_path / "b.csv", "a\n1\n2\n")
    assert key(tmp_path / "a.csv", "a\n1\n2\n") != key(tmp_path / "a.csv", "a\n1\n3\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sedes = 3\n" + WHOLE, "Did you mean 'seeds'"),
        (WHOLE.replace("[[solver]]", "[[sovler]]"), "Did you mean 'solver'"),
        (WHOLE.replace("[[solver]]", "[solver]"), "two brackets"),
        (WHOLE.replace("mdav", "mdva"), "Did you mean 'mdav'"),
        (WHOLE.replace("german", "germann"), "Did you mean 'german'"),
        (WHOLE.replace("parameters.k = 3", "k = 3"), "write parameters.k"),
        (WHOLE.replace("parameters.k = 3", ""), "needs k"),
        (
            WHOLE.replace("parameters.k = 3", "parameters.kk = 3"),
            "no parameter of 'microaggregation' named 'kk'",
        ),
        (WHOLE.replace("parameters.k = 3", "parameters.k = 3\nparameters.distinct = 2"), "distinct_l"),
        (WHOLE.replace("parameters.k = 3", "parameters.k = []"), "empty list"),
        (WHOLE.replace("parameters.k = 3", 'parameters.k = 3\nobjectives = "sse"'), "give a list of names"),
        (WHOLE + '[[dataset]]\nname = "german"\nlabel = "g"\nrows = []\n', "rows of the dataset 'g' is an empty list"),
        (WHOLE + "options.speed = 3\n", "no option of 'mdav' named 'speed'"),
        (WHOLE + "limits.tme = 3\n", "Did you mean 'time'"),
        (WHOLE + "options = 3\n", "must be a table"),
        (WHOLE + '[limits]\nmemory = "much"\n', "a size such as '2 GB'"),
        (WHOLE + "[limits]\ntime = 9\nkill = 3\n", "before limits.time"),
        (WHOLE + '[[solver]]\nname = "mdav"\n', "a label of its own"),
        (WHOLE + '[[solver]]\nname = "mdav"\nlabel = "again"\n', "is the same run as"),
        (WHOLE + '[[dataset]]\nfile = "nosuch.csv"\n', "There is no file"),
        (WHOLE + "[[dataset]]\nrows = 3\n", "either a name"),
        (WHOLE + '[[dataset]]\nname = "german"\nlabel = "g"\nroles.scalling = "none"\n', "Did you mean 'scaling'"),
        (WHOLE + '[[solver]]\nname = "pimoo:ctaea"\n', "Did you mean 'pymoo'"),
        (PARTS, "has no solvers"),
        ("seeds = 0\n" + WHOLE, "seeds must be"),
        ("seeds = [1, 1]\n" + WHOLE, "each once"),
        ('answer = "fronts"\n' + WHOLE, "Did you mean 'front'"),
        ('answer = "front"\n' + WHOLE, "answers with one solution"),
        ("seeds = = 3", "not valid TOML"),
        ("name = 3\n" + WHOLE, "name of a study must be text, not 3"),
        (WHOLE.replace("parameters.k = 3", 'parameters.k = [3, 0, "a"]'), "(k=0) on the dataset 'german': k must be"),
        (WHOLE.replace("parameters.k = 3", 'parameters.k = "a"'), "k must be a whole number"),
        (WHOLE.replace("parameters.k = 3", 'parameters.k = 3\nparameters.t = "a"'), "t must be a distance"),
        (WHOLE.replace("parameters.k = 3", 'parameters.k = 3\nobjectives = ["nosuch"]'), "no objective 'nosuch'"),
        (WHOLE.replace("parameters.k = 3", "parameters.k = 3\nobjectives = [3]"), "must be names of objectives, not 3"),
        (WHOLE + '[[dataset]]\nname = "german"\nlabel = "g"\nroles.quasi.purpose = "numeric"\n', "dataset 'g' cannot"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_run(text: str, told: str, written: Callable[[str], Path]) -> None:
    path = written(text)
    with pytest.raises(InputError) as error:
        planned(load_study(path))
    assert told in str(error.value)
    assert str(error.value).startswith(f"In the study file '{path}': ")


def test_a_model_may_suit_some_of_the_datasets(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age\n1\n2\n3\n")
    ages = DatasetSpec(file=tmp_path / "ages.csv", roles={"quasi": {"age": "numeric"}})
    german = DatasetSpec("german", rows=50)
    models = [
        FormulationSpec("mo-obam", {"k": 3}),
        FormulationSpec("microaggregation", {"k": 3}),
    ]
    assert len(planned(Study("s", [ages, german], models, [SolverSpec("mdav")]))) == 4
    with pytest.raises(InputError, match=r"^mo-obam\(k=3\) on the dataset 'ages': .*sensitive"):
        planned(Study("s", [ages], models, [SolverSpec("mdav")]))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read the study file"):
        load_study(tmp_path / "none.toml")
