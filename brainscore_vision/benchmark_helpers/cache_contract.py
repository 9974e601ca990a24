"""Check that the identifier of a derived stimulus set names the registered one that it is derived from."""

_MARK = "--"


def stimulus_identifier_is_cacheable(stimuli_identifier: str) -> bool:
    """Whether the part of an identifier before the first ``--`` is a registered stimulus set or data set.

    The activation store of this package uses the stimuli's bytes, whatever their name. Receipts and recorded features
    use names: a benchmark that selects or merges stimuli names the result
    ``<registered identifier>--<what was done>``, as :func:`~brainscore_vision.benchmark_helpers.screen.place_on_screen`
    does.

    `stimuli_identifier`: value of ``stimulus_set.identifier``.

    Examples
    --------
    >>> stimulus_identifier_is_cacheable("Simulated2026--first_half")
    True
    >>> stimulus_identifier_is_cacheable("my_own_selection")
    False
    """
    from brainscore_vision.registries import data_registry, stimulus_set_registry

    base = str(stimuli_identifier).split(_MARK)[0]
    return base in stimulus_set_registry or base in data_registry


def assert_stimulus_identifier_is_cacheable(stimuli_identifier: str) -> None:
    """Fail a test if :func:`stimulus_identifier_is_cacheable` returns False.

    Raises
    ------
    AssertionError
        The message states what is not registered, and which name to use.
    """
    if not stimulus_identifier_is_cacheable(stimuli_identifier):
        base = str(stimuli_identifier).split(_MARK)[0]
        raise AssertionError(
            f"the stimuli are called {stimuli_identifier!r}, but no stimulus set or data set {base!r} is registered; "
            f"call them '<registered identifier>{_MARK}<what was done>'"
        )
