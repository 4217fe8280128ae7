"""The report: its numbers are the audit's, nothing in it comes from elsewhere, and data stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.audit import Audit, audit, audit_table
from optmodels.conditions import Conditions
from optmodels.markup import Markup, escaped, named, tag
from optmodels.release import Release, release
from optmodels.report.words import percent, promised
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

HOSTILE = "<script>alert('x')</script>&amp;\"'"
RIGHT_TO_LEFT = "\u202eשם"
LONG = "very" * 500
VOID = {"meta", "br", "rect", "circle", "line", "path", "col", "hr"}


class Reader(HTMLParser):
    """All elements and attributes of a page, its text, and whether elements are closed in their order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def people(
    columns: tuple[str, str, str] = ("age", "town", "illness"), values: tuple[str, ...] = ("flu", "cold")
) -> Table:
    age, town, illness = columns
    n = 24
    frame = pd.DataFrame(
        {
            "who": [f"person {i}" for i in range(n)],
            age: [20 + 3 * (i % 12) for i in range(n)],
            town: [("Ulm", "Bonn", "Trier")[i % 3] for i in range(n)],
            illness: [values[i % len(values)] for i in range(n)],
        }
    )
    return Table(
        frame,
        quasi={age: "numeric", town: "categorical"},
        sensitive=illness,
        identifiers="who",
        hierarchies={
            age: Hierarchy.intervals(frame[age], [10, 20]),
            town: Hierarchy.automatic(["Ulm", "Bonn", "Trier"]),
        },
    )


def made(table: Table, *, k: int = 4, method: str = "interval", **asked: object) -> Release:
    labels = np.argsort(np.argsort(table.values[:, 0], kind="stable")) // k
    promise = Conditions(k=k, **asked)  # type: ignore[arg-type]
    return release(table, labels, promise=promise, method=method, provenance={"solver": "by hand"})  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["centroid", "interval", "hierarchy"])
def test_a_report_needs_nothing_else(method: str) -> None:
    page = made(people(), method=method, distinct_l=2).to_html(source={"data": "p.csv", "sha256": "ab", "command": "c"})
    found = read(page)
    assert page.startswith("<!doctype html>")
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(found.tags)
    assert not [value for key, value in found.attributes if key in ("src", "srcset", "data", "action")]
    assert all(value.startswith("#") for key, value in found.attributes if key == "href")
    assert not re.search(r"https?:|//|url\(|@import", page.replace("http-equiv", ""))
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    anchors = [value for key, value in found.attributes if key == "id"]
    assert {value[1:] for key, value in found.attributes if key == "href"} == set(anchors)
    for said in ("p.csv", "ab", "by hand", "optmodels ", "Python "):
        assert said in found.text


def test_its_numbers_are_the_audits() -> None:
    table = people(values=("flu", "cold", "gout"))
    one = made(table, k=4, distinct_l=2, most_share=0.75, t=0.6, entropy_l=1.2)
    text, before = read(one.to_html()).text, audit_table(table)
    assert f"{percent(before.prosecutor)} → {percent(one.audit.prosecutor)}" in text
    assert f"{percent(before.marketer)} → {percent(one.audit.marketer)}" in text
    for name_, share in one.audit.attribute_loss.items():
        assert f"{name_}{percent(share)}" in text
    levels = one.audit.sensitive["illness"]
    rows = {row.term: (row.asked, row.achieved, row.kept) for row in promised(one.audit)}
    assert rows["k-anonymity"] == ("at least 4", str(one.audit.k), True)
    assert rows["distinct l-diversity"] == ("at least 2", str(levels.distinct_l), True)
    assert rows["entropy l-diversity"] == ("at least 1.2", f"{levels.entropy_l:.4g}", True)
    assert rows["(alpha, k)-anonymity"] == ("at most 75%", percent(levels.alpha), True)
    assert rows["t-closeness (equal)"] == ("at most 0.6", f"{levels.t_equal:.4g}", True)
    assert "keeps its promise" in text


def test_every_condition_is_told_with_what_is_reached() -> None:
    table = people(values=("flu", "cold", "gout"))
    asked: dict[str, object] = {
        "distinct_l": 2,
        "entropy_l": 1.1,
        "recursive": (9.0, 2),
        "most_share": 0.9,
        "beta": 1.9,
        "delta": 9.0,
        "t": {"illness": 0.9},
        "t_distance": "variational",
    }
    one = made(table, k=6, **asked)
    assert len(promised(one.audit)) == 8
    assert all(row.kept for row in promised(one.audit))
    # The same promise of a table that does not keep it is seen to be broken, row by row.
    poor = audit(table.frame, quasi=table.quasi, sensitive=table.sensitive).annotated(promise=one.audit.promise)
    assert [row.term for row in promised(poor) if row.kept] == []
    assert "breaks its promise" in poor.to_html()


def test_what_is_not_protected_depends_on_the_settings() -> None:
    lone = read(made(people(values=("flu",))).to_html()).text
    assert "Certainty about illness" in lone
    assert "24 records (100%)" in lone
    mixed = read(made(people(), t=0.9).to_html()).text
    assert "Certainty about illness" not in mixed
    assert "Groups that differ" not in mixed
    assert "Groups that differ" in read(made(people()).to_html()).text
    nothing = Table(people().frame[["age", "town"]], quasi={"age": "numeric", "town": "categorical"})
    assert "No column was named as sensitive" in made(nothing).to_html()


def test_an_attribute_that_is_all_but_lost_is_a_warning() -> None:
    table = people()
    one = release(table, np.zeros(24, int), promise=Conditions(k=4))
    assert one.audit.all_but_lost == ("age", "town")
    found = read(one.to_html())
    assert "age, town are all but lost" in found.text
    assert ("class", "warning") in found.attributes
    assert "all but lost" not in made(table).to_html()


def test_no_original_record_and_no_small_count_is_told() -> None:
    frame = pd.DataFrame({"pay": [*np.arange(1000, 1098), 987_654, 987_655], "who": [f"secret{i}" for i in range(100)]})
    table = Table(frame, quasi={"pay": "numeric"}, identifiers="who")
    page = release(table, np.arange(100) // 20, promise=Conditions(k=20), method="centroid").to_html()
    text = read(page).text
    for told in ("secret", "987", "1098", "1097"):
        assert told not in text.replace(",", "")
    assert "few → " in text


def test_hostile_names_and_values_are_text() -> None:
    table = people((HOSTILE, RIGHT_TO_LEFT, LONG), (HOSTILE, LONG, "\x00!"))
    page = made(table).to_html(source={"data": HOSTILE, "command": HOSTILE + "\ud800"})
    page.encode("utf-8")
    found = read(page)
    assert "script" not in found.tags
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert HOSTILE in found.text
    assert "(2,000 characters)" in found.text
    assert "very" * 40 not in found.text
    assert "\x00" not in page
    assert f"<bdi>{RIGHT_TO_LEFT}</bdi>" in page
    own = audit_table(table).to_html(table.frame)
    assert "<script" not in own


@given(st.text(max_size=60))
def test_text_is_never_markup(text: str) -> None:
    for found in (tag("p", text, title=text), named(text)):
        reader = read(found)
        assert set(reader.tags) <= {"p", "bdi"}
    assert isinstance(escaped(text), Markup)


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4), st.floats(-1e9, 1e9)), min_size=4, max_size=20),
    st.sampled_from(["centroid", "interval"]),
)
def test_any_table_has_a_report(rows: list[tuple[str, str, float]], method: str) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b", "x"]).assign(
        a=lambda found: found["a"] + "!", b=lambda f: f["b"] + "!"
    )
    table = Table(frame, quasi={"a": "categorical", "x": "numeric"}, sensitive="b")
    read(
        release(
            table,
            np.arange(len(rows)) // 2 - (np.arange(len(rows)) // 2 == len(rows) // 2),
            promise=Conditions(k=2),
            method=method,
        ).to_html()
    )  # type: ignore[arg-type]


def test_an_audit_has_a_page_with_and_without_its_table() -> None:
    table = people()
    found: Audit = audit_table(table)
    alone, with_groups = read(found.to_html()).text, read(found.to_html(table.frame)).text
    assert "Audit of 24 records" in alone
    assert "records in the group" not in alone
    assert "records in the group" in with_groups
    assert "keeps its promise" not in with_groups
    # groups of one or two people are counted, and not described
    assert "not told: fewer than 3 records" in with_groups


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_left_out_records_are_told(suppressed: str) -> None:
    table = people()
    labels = np.argsort(np.argsort(table.values[:, 0], kind="stable")) // 4
    labels[labels == labels[0]] = -1
    one = release(table, labels, promise=Conditions(k=4, suppress=0.2), suppressed=suppressed, method="interval")  # type: ignore[arg-type]
    assert one.audit.suppressed == 4
    text = read(one.to_html()).text
    assert "records left out (suppressed)4 (16.7%)" in text
    assert "No more than 20% of the records are left out" in text
    assert {row.term: row.achieved for row in promised(one.audit)}["suppression"] == "16.7%"
    # rows of stars are no group
    assert re.search(r"groups45(?!\d)", text.split("records in the group")[1][:20])


def test_numbers_as_they_were_written_keep_their_order(tmp_path: Path) -> None:
    rows = [f"{20 + i % 12},{i % 4}.50" for i in range(24)]
    file = tmp_path / "people.csv"
    file.write_text("age,cost\n" + "\n".join(rows), encoding="utf-8")
    table = Table.from_file(file, quasi={"age": "numeric"}, sensitive="cost")
    labels = np.argsort(np.argsort(table.values[:, 0], kind="stable")) // 6
    one = release(table, labels, promise=Conditions(k=6))
    assert "3.50" in set(one.frame["cost"])
    text = read(one.to_html()).text.split("Sensitive values in groups")[-1]
    places = [text.index(f"{value}25% (") for value in ("0.5", "1.5", "2.5", "3.5")]
    assert places == sorted(places)


def test_people_are_counted_where_they_are_known() -> None:
    frame = pd.DataFrame(
        {"who": [i // 2 for i in range(24)], "age": [20 + i // 6 for i in range(24)], "ill": list("ab") * 12}
    )
    table = Table(frame, quasi={"age": "numeric"}, sensitive="ill", person="who")
    one = release(table, np.arange(24) // 6, promise=Conditions(k=3, distinct_l=2))
    text = read(one.to_html()).text
    assert one.audit.k == 3
    assert "3people in the smallest group" in text
    assert "within a group of 3 people or more" in text
    assert "12, with 2 records at most" in text
    assert "2 (2 counting people once)" in text
    assert "People with several records" not in text
    plain = Table(frame, quasi={"age": "numeric"}, sensitive="ill", identifiers="who")
    told = read(release(plain, np.arange(24) // 6, promise=Conditions(k=3)).to_html()).text
    assert "Here people repeat in who: name it with --person." in told


def test_numbers_without_a_hierarchy_are_read_as_the_intervals_they_are_released_as() -> None:
    frame = pd.DataFrame({"age": np.arange(20, 44), "town": ["Ulm", "Bonn", "Trier"] * 8})
    hierarchies = {"town": Hierarchy.automatic(["Ulm", "Bonn", "Trier"])}
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, hierarchies=hierarchies)
    one = release(table, np.arange(24) // 6, promise=Conditions(k=6), method="hierarchy")
    assert "[20-25]" in set(one.frame["age"])
    assert "Values before and after" in one.to_html()
