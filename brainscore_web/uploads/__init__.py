"""Uploads of packaged data: receiving, checks, storage and downloads."""
