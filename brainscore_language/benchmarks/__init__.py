"""Plugins: benchmarks."""
