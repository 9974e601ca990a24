"""Other processes for tests: forks, which need not import anything again."""

import multiprocessing

import pytest


@pytest.fixture
def fork():
    """``fork(function, *arguments)`` runs a function in another process, which ends with the test at the latest."""
    context = multiprocessing.get_context("fork")
    started = []

    def run(function, *arguments):
        process = context.Process(target=function, args=arguments, daemon=True)
        process.start()
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.join()
