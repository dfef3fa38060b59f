"""Families: members are made when they are named, agree with the catalogue's rules, and end where the family ends."""

import pytest

from faults.answer import VERSION_BYTES, Answer
from faults.catalogue import CATALOGUE, FAMILIES, fault_named, filed_under, is_fault
from faults.families import Family, UnknownFaultError
from faults.plan import PlannedOperation
from faults.vocabulary import Class

EACH = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@EACH
def test_every_member_is_named_by_its_number_and_has_its_twin_where_nothing_proves_that_it_ran(family: Family) -> None:
    """All of them, not only those in the catalogue."""
    for number in range(1, family.last + 1):
        fault = fault_named(family.id_of(number))
        assert fault.id == family.id_of(number)
        assert (fault.class_under() is Class.AMBIGUOUS) is (number <= VERSION_BYTES)
        if fault.twin is not None:
            twin = fault_named(fault.twin)
            assert (twin.twin, twin.evidence) == (fault.id, fault.evidence)
            assert twin.truth.executed is not fault.truth.executed
        else:
            assert fault.no_twin


@EACH
def test_members_that_are_shown_are_in_the_catalogue_and_all_are_filed_somewhere(family: Family) -> None:
    """A count by catalogue and families leaves none out."""
    assert all(family.id_of(number) in CATALOGUE for number in family.shown)
    hidden = next(number for number in range(1, family.last + 1) if number not in family.shown)
    assert family.id_of(hidden) not in CATALOGUE
    assert filed_under(family.id_of(hidden)) == family.name
    assert filed_under(family.id_of(family.shown[0])) == family.id_of(family.shown[0])


@EACH
@pytest.mark.parametrize("number", ["0", "01", "9999", "-1", "N", "", "1.0"])
def test_a_number_that_a_family_does_not_have_is_refused(family: Family, number: str) -> None:
    """With the id that was given."""
    id_ = family.name.replace("N", number)
    assert not is_fault(id_)
    with pytest.raises(UnknownFaultError, match=f"fault '{id_}'"):
        fault_named(id_)


def test_a_number_of_thousands_of_digits_is_refused_like_any_other() -> None:
    """No integer is made of it, and the message does not repeat it."""
    with pytest.raises(UnknownFaultError, match="of 'cut-at-N-fin'; expected a number from 1 to 463") as error:
        fault_named(f"cut-at-{'9' * 5_000}-fin")
    assert len(str(error.value)) < 300


def test_the_message_says_which_numbers_there_are() -> None:
    with pytest.raises(UnknownFaultError, match="of 'cut-at-N-fin'; expected a number from 1 to 463"):
        fault_named("cut-at-464-fin")


def test_a_plan_can_name_any_member() -> None:
    operation = PlannedOperation(faults=("cut-at-17-reset",))
    act = fault_named(operation.faults[0]).act
    assert isinstance(act, Answer)
    assert act.cut == 17
