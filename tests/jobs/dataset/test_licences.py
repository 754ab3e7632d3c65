import pytest

from pocket_batch.dataset_settings import LicenceSettings
from pocket_batch.errors import UsageError
from pocket_batch.jobs.dataset.licences import hub_licence, is_noncommercial, licence_of_set, rank


def test_licences_are_ordered_from_free_to_strict() -> None:
    names = ["CC0-1.0", "MIT", "CC BY 4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-4.0", "?"]
    ranks = [rank(name) for name in names]
    assert ranks == sorted(set(ranks))


def test_a_licence_without_version_is_known() -> None:
    assert rank("CC-BY") == rank("CC-BY-4.0")


@pytest.mark.parametrize("name", ["CC BY-NC 4.0", "cc-by-nc-sa-3.0", "MIT, non-commercial"])
def test_what_forbids_commercial_use_is_seen_in_any_spelling(name: str) -> None:
    assert is_noncommercial(name)


def test_the_strictest_licence_is_that_of_the_set() -> None:
    """Case 33."""
    assert licence_of_set({"a": "CC0-1.0", "b": "CC-BY-4.0"}, LicenceSettings()) == "CC-BY-4.0"


@pytest.mark.parametrize("bad", ["CC-BY-NC-4.0", ""])
def test_a_voice_that_does_not_fit_is_named(bad: str) -> None:
    """Case 33."""
    with pytest.raises(UsageError, match="voice b"):
        licence_of_set({"a": "CC0-1.0", "b": bad}, LicenceSettings())


def test_a_freer_licence_than_a_voice_has_is_refused() -> None:
    """Case 33."""
    with pytest.raises(UsageError, match=r"voice b is CC-BY-4\.0"):
        licence_of_set({"a": "CC0-1.0", "b": "CC-BY-4.0"}, LicenceSettings(wanted="CC0-1.0"))


def test_hubs_have_small_letters() -> None:
    assert hub_licence("CC-BY-4.0") == "cc-by-4.0"
