"""Orders: valid by the checker, optimal by brute force over all orders, never worse than the one that came in."""

from hypothesis import given, settings
from planning_oracles import naive_peak_bytes, programs, valid_orders

from vgfc.planning import Budget, Instruction, Program, check_order, peak_bytes, schedule, session_bytes
from vgfc.planning.exact_order import Lifetimes, pieces
from vgfc.planning.order import beam_order


@settings(max_examples=300, deadline=None)
@given(programs())
def test_orders_are_optimal(program: Program) -> None:
    found = schedule(program)
    assert check_order(program, found.order) == []
    assert found.cost_bytes == peak_bytes(program.reordered(found.order))
    assert found.optimal
    assert found.cost_bytes == min(naive_peak_bytes(program, order) for order in valid_orders(program))


@settings(max_examples=100, deadline=None)
@given(programs(most=9))
def test_orders_for_the_runtime_are_never_worse(program: Program) -> None:
    found = schedule(program, session_bytes, steps=300)
    assert check_order(program, found.order) == []
    assert found.cost_bytes == session_bytes(program.reordered(found.order)) <= session_bytes(program)
    assert found.lower_bound_bytes <= found.cost_bytes


@settings(max_examples=100, deadline=None)
@given(programs(most=8))
def test_without_budget_orders_are_valid_and_never_worse(program: Program) -> None:
    found = schedule(program, steps=0)
    assert check_order(program, found.order) == []
    assert found.lower_bound_bytes <= found.cost_bytes <= peak_bytes(program)


@settings(max_examples=100, deadline=None)
@given(programs(most=8))
def test_beam_search_orders_are_valid(program: Program) -> None:
    lifetimes = Lifetimes(program)
    order = beam_order(lifetimes, range(lifetimes.count), 0, lifetimes.start_bytes, Budget())
    assert check_order(program, order) == []
    assert lifetimes.peak_bytes(order) == naive_peak_bytes(program, tuple(order))


def test_an_order_that_cannot_be_better_is_kept() -> None:
    # Two branches of equal shape: swapping them gains nothing.
    program = Program(
        (0, 4, 2, 2, 0),
        (Instruction((0,), (1,)), Instruction((1,), (2,)), Instruction((1,), (3,)), Instruction((2, 3), (4,))),
    )
    assert schedule(program).order == (0, 1, 2, 3)


def test_the_branch_that_shrinks_goes_first() -> None:
    # From x (2), one branch goes by 8 to 1, the other by 6 to 5: the first alone leaves only 1 beside the second.
    program = Program(
        (0, 2, 6, 5, 8, 1, 0),
        (
            Instruction((0,), (1,)),
            Instruction((1,), (2,)),
            Instruction((2,), (3,)),
            Instruction((1,), (4,)),
            Instruction((4,), (5,)),
            Instruction((3, 5), (6,)),
        ),
    )
    assert peak_bytes(program) == 15  # 5 and 2 beside 8
    found = schedule(program)
    assert found.order == (0, 3, 4, 1, 2, 5)
    assert (found.cost_bytes, found.lower_bound_bytes) == (12, 12)  # 1 beside 6 and 5


def test_chains_fall_into_single_instructions() -> None:
    program = Program((0, 1, 1, 0), tuple(Instruction((index,), (index + 1,)) for index in range(3)))
    assert pieces(Lifetimes(program)) == [[0], [1], [2]]


def test_a_branch_stays_in_one_piece() -> None:
    program = Program(
        (0, 1, 1, 1, 0),
        (Instruction((0,), (1,)), Instruction((1,), (2,)), Instruction((1,), (3,)), Instruction((2, 3), (4,))),
    )
    assert pieces(Lifetimes(program)) == [[0], [1, 2], [3]]


def test_handing_out_an_early_output_does_not_join_pieces() -> None:
    # A chain of 40 whose every value is also handed out: 2**40 states, were the outputs not kept apart.
    sizes = [0]
    instructions = []
    for index in range(40):
        sizes.append(index % 5 + 1)
        instructions.append(Instruction((2 * index - 1 if index else 0,), (2 * index + 1,)))
        sizes.append(0)
        instructions.append(Instruction((2 * index + 1,), (2 * index + 2,)))
    program = Program(tuple(sizes), tuple(instructions))
    found = schedule(program, steps=1000)
    assert found.optimal
    assert check_order(program, found.order) == []
    assert found.cost_bytes == 9  # values of 4 and 5 bytes follow each other
