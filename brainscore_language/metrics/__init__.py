"""Plugins: metrics."""
