"""Plugins of an example laboratory; importing this package loads none of them."""
