from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optmodels.audit import audit
from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.table.hierarchy import Hierarchy

PEOPLE = pd.DataFrame(
    {
        "age": ["30-39"] * 4 + ["40-49"] * 3 + [None] * 2,
        "sex": ["f"] * 4 + ["m"] * 3 + ["m"] * 2,
        "illness": ["flu", "flu", "cold", "none", "flu", "flu", "flu", "cold", "cold"],
        "income": [1, 2, 3, 4, 2, 2, 2, 9, 9],
    }
)
QUASI = ["age", "sex"]


def test_the_json_has_the_keys_that_scripts_rely_on():
    found = json.loads(audit(PEOPLE, quasi=QUASI, sensitive=["illness", "income"]).to_json())
    assert found["records"] == 9
    assert found["classes"] == 3
    assert found["k"] == 2
    assert found["linkage"] == {"0.05": 9, "0.075": 9, "0.1": 9}
    assert found["homogeneity"] == {"total": 5, "illness": 5, "income": 5}
    assert set(found["sensitive"]) == {"illness", "income"}
    assert {"distinct_l", "entropy_l", "recursive_c", "t_variational", "t_emd"} <= set(found["sensitive"]["illness"])


def test_strict_json_has_null_for_what_is_unbounded():
    text = audit(PEOPLE, quasi=QUASI, sensitive="illness").to_json()

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(text, parse_constant=refuse)
    assert found["sensitive"]["illness"]["delta_disclosure"] is None
    assert found["sensitive"]["illness"]["enhanced_beta"] is None


def test_linkage_at_any_tau():
    found = audit(PEOPLE, quasi=QUASI, taus=(0.25, 0.3, 0.5, 1 / 3))
    assert found.linkage == {"0.25": 5, "0.3": 5, "0.5": 0, "0.333333": 2}


def test_no_sensitive_attribute_is_no_error():
    found = audit(PEOPLE, quasi=QUASI)
    assert found.sensitive == {}
    assert found.homogeneity == {"total": 0}
    assert "sensitive" not in str(found)


def test_whole_numbers_and_text_are_ordered_when_told():
    income = audit(PEOPLE, quasi=QUASI, sensitive="income", ordered=["income"]).sensitive["income"]
    assert income.t_ground == "ordered"
    assert audit(PEOPLE, quasi=QUASI, sensitive="income").sensitive["income"].t_ground == "equal"
    plain = audit(PEOPLE, quasi=QUASI, sensitive="illness").sensitive["illness"]
    assert (plain.t_ground, plain.t_emd) == ("equal", plain.t_variational / 2)
    natural = audit(PEOPLE, quasi=QUASI, sensitive="illness", ordered=["illness"]).sensitive["illness"]
    given_order = audit(
        PEOPLE, quasi=QUASI, sensitive="illness", ordered={"illness": ["none", "cold", "flu"]}
    ).sensitive["illness"]
    # cold < flu < none: the class of colds is 5/9 + 2 * 1/9 steps away; none < cold < flu: flu's is 3/9 + 2 * 1/9
    assert natural.t_emd == pytest.approx((5 / 9 + 2 / 9) / 2)
    assert given_order.t_emd == pytest.approx((1 / 9 + 5 / 9) / 2)


def test_values_of_an_order_that_do_not_occur_still_stretch_it():
    longer = {"illness": ["none", "never", "cold", "flu"]}
    found = audit(PEOPLE, quasi=QUASI, sensitive="illness", ordered=longer).sensitive["illness"]
    assert found.t_emd == pytest.approx((2 / 9 + 5 / 9) / 3)
    with pytest.raises(InputError, match="'illness' does not list its value 'flu'"):
        audit(PEOPLE, quasi=QUASI, sensitive="illness", ordered={"illness": ["none", "cold"]})


def test_an_ordered_categorical_brings_its_order():
    levels = ["none", "cold", "flu"]
    frame = PEOPLE.assign(illness=pd.Categorical(PEOPLE["illness"], levels, ordered=True))
    assert audit(frame, quasi=QUASI, sensitive="illness") == audit(
        PEOPLE, quasi=QUASI, sensitive="illness", ordered={"illness": levels}
    )


def test_a_hierarchy_decides_the_ground_distance():
    tree = Hierarchy(["flu", "cold", "none"], [["ill", "ill", "well"]])
    found = audit(PEOPLE, quasi=QUASI, sensitive="illness", hierarchies={"illness": tree}).sensitive["illness"]
    assert found.t_ground == "hierarchical"
    # colds against 5 flu, 3 cold, 1 none of 9: 5/9 move half way up, 1/9 all the way
    assert found.t_emd == pytest.approx(5 / 9 * 0.5 + 1 / 9)


def test_a_missing_sensitive_value_is_a_value():
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "s": [None, "a", None, np.nan]})
    levels = audit(frame, quasi=["q"], sensitive="s").sensitive["s"]
    assert levels.distinct_l == 1
    assert levels.t_variational == pytest.approx(0.5)
    numbers = audit(frame.assign(s=[np.nan, 1.0, np.nan, np.nan]), quasi=["q"], sensitive="s").sensitive["s"]
    assert numbers.t_variational == pytest.approx(0.5)


def test_a_population_lowers_journalist_and_marketer_risk_only():
    population = pd.concat([PEOPLE] * 3)
    alone, within = audit(PEOPLE, quasi=QUASI), audit(PEOPLE, quasi=QUASI, population=population)
    assert within.prosecutor == alone.prosecutor == 1 / 2
    assert within.journalist == pytest.approx(1 / 6)
    assert within.marketer == pytest.approx(alone.marketer / 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"quasi": ["agee"]}, "no column 'agee'. Did you mean 'age'"),
        ({"quasi": ["age"], "sensitive": "ill"}, "no column 'ill'"),
        ({"quasi": ["age"], "ordered": ["incomes"]}, "no column 'incomes'. Did you mean 'income'"),
        ({"quasi": ["age", "age"]}, "'age' is named twice"),
        ({"quasi": ["age"], "sensitive": "age"}, "'age' is named twice"),
        ({"quasi": []}, "at least one quasi-identifier"),
        ({"quasi": ["age"], "taus": (7,)}, "between 0 and 1"),
    ],
)
def test_bad_input_is_named(arguments, said):
    with pytest.raises(InputError, match=said):
        audit(PEOPLE, **arguments)


def test_a_table_without_records_or_with_twin_columns_is_refused():
    with pytest.raises(InputError, match="no records"):
        audit(PEOPLE.head(0), quasi=QUASI)
    twins = pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1)
    with pytest.raises(InputError, match="several columns called 'age'"):
        audit(twins, quasi=QUASI)


def test_a_promise_is_checked_level_by_level():
    found = audit(PEOPLE, quasi=QUASI, sensitive=["illness", "income"])
    assert found.check(Conditions(k=2)) == []
    assert found.check(Conditions(k=2, distinct_l=1, entropy_l=1.0, t=1.0)) == []
    broken = found.check(Conditions(k=4, distinct_l=2, entropy_l=1.5, t=0.1))
    assert len(broken) == 1 + 3 * 2
    assert audit(PEOPLE, quasi=QUASI).check(Conditions(k=2, distinct_l=2)) == [
        "there is no sensitive attribute to be diverse or close"
    ]


def test_the_text_says_what_matters():
    text = str(audit(PEOPLE, quasi=QUASI, sensitive=["illness", "income"]))
    assert "9 records in 3 classes (age, sex)" in text
    assert "5 (55.6%)" in text
    assert max(map(len, text.splitlines())) <= 120


class Outline(HTMLParser):
    """Counts open tags and collects what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs):
        links = [value or "" for name, value in attrs if name in ("src", "href")]
        self.fetched += [link for link in links if not link.startswith("#")]  # a place within the page is there already
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else():
    frame = PEOPLE.rename(columns={"illness": "<script>alert(1)</script>"})
    page = audit(frame, quasi=QUASI, sensitive="<script>alert(1)</script>").to_html()
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert outline.fetched == []
    assert "<script" not in page
    assert "unbounded" in page


@given(st.permutations(range(len(PEOPLE))))
def test_an_audit_does_not_depend_on_the_order_of_rows(order):
    shuffled = PEOPLE.iloc[list(order)]
    one = audit(shuffled, quasi=QUASI, sensitive=["illness", "income"]).to_dict()
    other = audit(PEOPLE, quasi=QUASI, sensitive=["illness", "income"]).to_dict()
    for name, levels in one.pop("sensitive").items():
        expected = other["sensitive"][name]
        assert levels.pop("recursive") == pytest.approx(expected.pop("recursive"))
        assert levels == pytest.approx(expected)
    other.pop("sensitive")
    assert one == other


@pytest.mark.parametrize("roles", [{"quasi": ["tags"]}, {"quasi": ["age"], "sensitive": "tags"}])
def test_lists_cannot_be_audited(roles):
    with pytest.raises(InputError, match="'tags' holds values that cannot be compared"):
        audit(pd.DataFrame({"age": [1, 1], "tags": [[1], [2]]}), **roles)


@pytest.mark.parametrize("dtype", ["str", "category", object])
def test_the_natural_order_is_not_the_order_of_appearance(dtype):
    cost = pd.Series(["20-100", "100-200", "5-20", "20-100", "100-200", "100-200"], dtype=dtype)
    frame = pd.DataFrame({"age": [1, 1, 1, 2, 2, 2], "cost": cost})
    found = audit(frame, quasi=["age"], sensitive="cost", ordered=["cost"]).sensitive["cost"]
    given = audit(frame, quasi=["age"], sensitive="cost", ordered={"cost": ["5-20", "20-100", "100-200"]})
    assert found == given.sensitive["cost"]
    assert found.t_ground == "ordered"
