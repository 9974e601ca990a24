def test_the_platforms_own_code_is_hashed_without_plugins(tmp_path, monkeypatch):
    from brainscore_core.receipts import environment

    def written(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        environment.platform_code.cache_clear()
        return environment.platform_code()

    try:
        monkeypatch.setattr(environment, "__file__", str(tmp_path / "brainscore_core/receipts/environment.py"))
        first = written("brainscore_core/metrics/pls.py", "x = 1")
        assert written("brainscore_vision/metrics/mine/metric.py", "x = 1") == first
        assert written("brainscore_vision/leaderboard.json", "{}") == first
        second = written("brainscore_core/metrics/pls.py", "x = 2")
        assert second != first
        assert written("brainscore_vision/metric_helpers/draws.py", "x = 1") not in {first, second}
    finally:
        environment.platform_code.cache_clear()
