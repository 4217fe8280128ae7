from __future__ import annotations

from math import inf, isclose, log

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy
from scipy.stats import wasserstein_distance

from optmodels.errors import InputError
from optmodels.metrics import privacy
from optmodels.metrics.privacy import Transport, transport_distance
from optmodels.partition import canonical, histograms
from optmodels.table.hierarchy import Hierarchy


@st.composite
def classes_of_codes(draw, most_values=30):
    """Labels, codes, the number of possible values, and the class-by-value counts as a dense matrix."""
    m = draw(st.integers(1, most_values))
    n = draw(st.integers(1, 60))
    labels = canonical(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    codes = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)), np.int32)
    dense = np.zeros((labels.max() + 1, m), np.int64)
    np.add.at(dense, (labels, codes), 1)
    return labels, codes, m, dense


def one_class(*counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    return histograms(np.zeros(len(codes), np.int64), codes)


@given(classes_of_codes())
def test_levels_of_the_worst_class(case):
    labels, codes, _, dense = case
    found = histograms(labels, codes)
    within = dense / dense.sum(axis=1, keepdims=True)
    assert privacy.k_anonymity(found.sizes) == dense.sum(axis=1).min()
    assert privacy.distinct_l(found) == (dense > 0).sum(axis=1).min()
    assert np.allclose(privacy.entropies(found), scipy_entropy(within, base=2, axis=1), atol=1e-12)
    assert isclose(privacy.entropy_l(found), np.exp(scipy_entropy(within, axis=1)).min(), rel_tol=1e-9)
    assert privacy.alpha(found) == within.max()


@given(classes_of_codes())
def test_variational_is_the_sum_of_differences_and_equal_is_half_of_it(case):
    labels, codes, m, dense = case
    found, overall = histograms(labels, codes), dense.sum(axis=0) / dense.sum()
    assert np.allclose(privacy.shares(found, m), overall)
    expected = np.abs(dense / dense.sum(axis=1, keepdims=True) - overall).sum(axis=1)
    variational = transport_distance(found, overall, Transport.variational(m))
    assert np.allclose(variational, expected, atol=1e-12)
    assert np.allclose(transport_distance(found, overall, Transport.equal(m)), variational / 2, atol=1e-12)


@given(classes_of_codes(most_values=80))
def test_ordered_emd_is_the_wasserstein_distance_of_ranks(case):
    labels, codes, m, dense = case
    found, overall = histograms(labels, codes), dense.sum(axis=0) / dense.sum()
    distances = transport_distance(found, overall, Transport.ordered(m))
    for c, counts in enumerate(dense):
        expected = wasserstein_distance(np.arange(m), np.arange(m), counts / counts.sum(), overall) / max(m - 1, 1)
        assert isclose(distances[c], expected, abs_tol=1e-12)


@st.composite
def trees(draw):
    leaves = draw(st.integers(2, 9))
    columns, groups = [], list(range(leaves))
    for _ in range(draw(st.integers(0, 3))):
        parents = {group: draw(st.integers(0, 3)) for group in sorted(set(groups))}
        groups = [parents[group] for group in groups]
        columns.append([f"node {group}" for group in groups])
    return Hierarchy([f"value {leaf}" for leaf in range(leaves)], columns)


@given(trees(), st.data())
@settings(max_examples=60)
def test_hierarchical_emd_is_optimal_transport_in_the_tree_metric(tree, data):
    m = len(tree.values)
    shuffled = data.draw(st.permutations(range(m)))  # the attribute's codes need not follow the hierarchy's
    values = tree.values[shuffled]
    counts = np.array(data.draw(st.lists(st.integers(0, 5), min_size=m, max_size=m)))
    if not counts.sum():
        counts[0] = 1
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=m, max_size=m)), float)
    overall = weights / weights.sum()
    at = tree.codes(values)
    ground = np.array([[tree.lca_level([a], [b])[0] for b in at] for a in at]) / (tree.n_levels - 1)
    expected = ot.emd2(counts / counts.sum(), overall, ground)
    codes = np.repeat(np.arange(m), counts)
    found = histograms(np.zeros(len(codes), np.int64), codes)
    distance = transport_distance(found, overall, Transport.hierarchical(tree, values))
    assert isclose(distance[0], expected, abs_tol=1e-9)


@given(trees(), st.data())
@settings(max_examples=40)
def test_two_values_are_as_far_apart_as_the_level_on_which_they_meet(tree, data):
    m = len(tree.values)
    values = tree.values[data.draw(st.permutations(range(m)))]
    one, other = (places.ravel() for places in np.indices((m, m)))
    at = tree.codes(values)
    expected = [tree.lca_level([at[a]], [at[b]])[0] / (tree.n_levels - 1) for a, b in zip(one, other, strict=True)]
    assert np.allclose(Transport.hierarchical(tree, values).between(one, other), expected, atol=1e-12)


def test_a_flat_hierarchy_is_the_equal_distance():
    flat = Hierarchy(["a", "b", "c"], [])
    found, overall = one_class(3, 1, 0), np.array([0.2, 0.3, 0.5])
    assert np.allclose(
        transport_distance(found, overall, Transport.hierarchical(flat, ["a", "b", "c"])),
        transport_distance(found, overall, Transport.equal(3)),
    )


def test_the_example_of_the_t_closeness_paper():
    """Salaries 3k..11k: {3, 4, 5}k is 0.375 from all nine and {6, 8, 11}k is 0.167 (Li et al. 2007, section 4)."""
    labels = canonical([0, 0, 0, 1, 2, 1, 2, 2, 1])
    found = histograms(labels, np.arange(9))
    distances = transport_distance(found, np.full(9, 1 / 9), Transport.ordered(9))
    assert distances[:2].round(3).tolist() == [0.375, 0.167]


def test_a_distance_over_other_values_is_refused():
    with pytest.raises(InputError, match="3 values cannot compare 2 shares"):
        transport_distance(one_class(1, 1), np.array([0.5, 0.5]), Transport.equal(3))


@given(classes_of_codes(), st.integers(1, 5), st.floats(0.1, 10))
def test_recursive_diversity_is_its_definition(case, least, c):
    labels, codes, _, dense = case
    found = histograms(labels, codes)
    ranked = -np.sort(-dense, axis=1)
    expected = all(row[0] < c * row[least - 1 :].sum() for row in ranked)
    assert privacy.is_recursive_diverse(found, c, least) == expected


def test_recursive_c_is_taken_at_the_distinct_l_of_the_table():
    assert privacy.recursive_c(one_class(8, 2)) == 4
    assert privacy.recursive_c(one_class(10)) == 1
    assert privacy.recursive_c(one_class(6, 3, 2)) == 3
    two = histograms([0] * 10 + [1] * 6, [0] * 8 + [1] * 2 + [0, 0, 0, 1, 1, 2])
    assert privacy.distinct_l(two) == 2
    assert privacy.recursive_c(two) == 4
    assert privacy.recursive_c(two, l=3) == inf
    with pytest.raises(InputError, match="at least 1"):
        privacy.recursive_c(two, l=0)


@given(classes_of_codes(most_values=6))
def test_every_c_of_recursive_diversity_is_the_least_that_will_do(case):
    labels, codes, _, dense = case
    found = histograms(labels, codes)
    ranked = -np.sort(-dense, axis=1)
    most = int((dense > 0).sum(axis=1).min())
    expected = [max(row[0] / row[least:].sum() for row in ranked) for least in range(most)]
    assert privacy.recursive_cs(found) == pytest.approx(expected)
    assert [privacy.recursive_c(found, l=least + 1) for least in range(most)] == pytest.approx(expected)
    assert privacy.recursive_c(found, l=most + 1) == inf


def test_nobody_has_no_levels():
    nobody = histograms(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert privacy.k_anonymity(nobody.sizes) == 0
    assert privacy.distinct_l(nobody) == 0
    assert privacy.entropy_l(nobody) == 0
    assert privacy.alpha(nobody) == 0
    assert privacy.shares(nobody, 2).tolist() == [0, 0]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_distances_over_few_values(size):
    """Between one value and itself there is nothing, and between two there is one step."""
    for ground in (Transport.ordered(size), Transport.equal(size), Transport.variational(size)):
        assert len(ground.order) == size
        between = ground.between(np.zeros(min(size, 1), np.int64), np.full(min(size, 1), max(size - 1, 0)))
        step = 2.0 if ground.weight.tolist() == [1.0, 1.0] else 1.0
        assert between.tolist() == pytest.approx([] if size == 0 else [step * (size - 1)])


def test_alpha_of_chosen_values():
    found = histograms([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 2])
    assert privacy.alpha(found) == 0.75
    assert privacy.alpha(found, values=[1, 2]) == 0.5
    assert privacy.alpha(found, values=[7]) == 0


@given(classes_of_codes(most_values=4))
def test_beta_and_delta_are_their_definitions(case):
    labels, codes, m, dense = case
    found = histograms(labels, codes)
    used = dense.sum(axis=0) > 0
    overall = privacy.shares(found, m)
    within, q = (dense / dense.sum(axis=1, keepdims=True))[:, used], overall[used]
    gains = (within - q) / q
    assert isclose(privacy.basic_beta(found, overall), gains.max(), abs_tol=1e-9)
    beyond = (gains > -np.log(q) + 1e-9).any()
    assert isclose(privacy.enhanced_beta(found, overall), inf if beyond else gains.max(), abs_tol=1e-9)
    delta = inf if (within == 0).any() else np.abs(np.log(within / q)).max()
    assert isclose(privacy.delta_disclosure(found, overall), delta, abs_tol=1e-9)


def test_enhanced_beta_bounds_frequent_values_more():
    """A value of half the table may not come to be 9 in 10 of a class: 0.8 exceeds -ln 0.5."""
    found, overall = one_class(9, 1), np.array([0.5, 0.5])
    assert isclose(privacy.basic_beta(found, overall), 0.8)
    assert privacy.enhanced_beta(found, overall) == inf
    assert isclose(privacy.enhanced_beta(one_class(8, 2), overall), 0.6)
    assert isclose(privacy.delta_disclosure(one_class(8, 2), overall), log(2.5))


@given(classes_of_codes())
def test_merging_classes_never_lowers_k_l_or_entropy_nor_raises_t(case):
    labels, codes, m, _ = case
    merged = canonical(np.where(labels == labels.max(), 0, labels))
    before, after = histograms(labels, codes), histograms(merged, codes)
    overall = privacy.shares(before, m)
    assert privacy.k_anonymity(after.sizes) >= privacy.k_anonymity(before.sizes)
    assert privacy.distinct_l(after) >= privacy.distinct_l(before)
    assert privacy.entropy_l(after) >= privacy.entropy_l(before) - 1e-9
    for transport in (Transport.equal(m), Transport.ordered(m)):
        worst = [transport_distance(found, overall, transport).max() for found in (before, after)]
        assert worst[1] <= worst[0] + 1e-9
