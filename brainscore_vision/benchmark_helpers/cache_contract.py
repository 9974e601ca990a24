"""Check that the identifier of a derived stimulus set names the registered one that it is derived from."""


def assert_stimulus_identifier_is_cacheable(stimuli_identifier: str) -> None:
    """Fail a test if the part of an identifier before the first ``--`` is not a registered stimulus set or data set.

    The activation store of this package uses the stimuli's bytes, whatever their name. Receipts and recorded features
    use names: a benchmark that selects or merges stimuli names the result
    ``<registered identifier>--<what was done>``, as :func:`~brainscore_vision.benchmark_helpers.screen.place_on_screen`
    does.

    `stimuli_identifier`: value of ``stimulus_set.identifier``.

    Raises
    ------
    AssertionError
        The message states what is not registered, and which name to use.
    """
    from brainscore_vision.registries import data_registry, stimulus_set_registry

    base = str(stimuli_identifier).partition("--")[0]
    if base not in stimulus_set_registry and base not in data_registry:
        raise AssertionError(
            f"the stimuli are called {stimuli_identifier!r}, but no stimulus set or data set {base!r} is registered; "
            "call them '<registered identifier>--<what was done>'"
        )
