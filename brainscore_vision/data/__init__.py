"""Stimuli and measurements."""
