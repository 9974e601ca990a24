"""What owners can do from the cards of what is theirs."""

import html
import re

from brainscore_web.leaderboard.models import Benchmark, VisionModel

WITHHELD = "Simulated002.V4-pls"


def press(client, page, button):
    """Send the form with this button as a browser would."""
    form = next(found for found in re.findall(r"<form.*?</form>", page, re.S) if f">{button}</button>" in found)
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    values = {name: html.unescape(value) for name, value in fields.items()}
    return client.post(re.search(r'action="([^"]+)"', form)[1], values)


def test_a_model_is_made_public_and_private(board, client, owner, get):
    address = f"/vision/model/{board.models[-1]}/"
    for button, visibility, status in (("Make it public", "public", 200), ("Make it private", "private", 404)):
        page = get(address, owner).content.decode()
        answer = press(client, page, button)
        assert (answer.status_code, answer["Location"]) == (302, address)
        assert VisionModel.objects.get(identifier=board.models[-1]).visibility == visibility
        get(address, status=status)


def test_data_of_a_benchmark_are_made_public(board, client, owner, staff, get):
    Benchmark.objects.filter(identifier=WITHHELD).update(owner=owner)
    address = f"/vision/benchmark/{WITHHELD}/"
    button = "Make stimuli and measurements public"
    for who in (None, staff):
        assert button not in get(address, who).content.decode()
    answer = press(client, get(address, owner).content.decode(), button)
    assert (answer.status_code, answer["Location"]) == (302, address)
    assert Benchmark.objects.get(identifier=WITHHELD).access == "public"
    assert "Withhold stimuli and measurements" in get(address, owner).content.decode()
