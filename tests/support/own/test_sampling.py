from __future__ import annotations

from tests.support.sampling import sampled


def test_sample_has_all_cases_and_marks_the_soak_only_cases() -> None:
    found = sampled("abcdef", 2)
    assert [one.values for one in found] == [(letter,) for letter in "abcdef"]
    assert [one.id for one in found] == list("abcdef")
    assert [mark.name for one in found for mark in one.marks] == ["soak"] * 4
    assert found == sampled("abcdef", 2), "the same until the engine changes"


def test_a_sample_may_be_everything() -> None:
    assert [one.marks for one in sampled("ab", 5)] == [(), ()]
