"""Checks that the author of a plugin can run: each kind of plugin must pass those of its kind."""
