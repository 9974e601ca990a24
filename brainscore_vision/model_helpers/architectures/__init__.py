"""Architectures that several models share, written from their papers."""
