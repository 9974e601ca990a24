"""Plugins: data."""
