"""Stimuli and measurements: their types, files and checks.

Import from the modules: :mod:`assemblies`, :mod:`stimuli`, :mod:`packaging`, :mod:`fetch`, :mod:`s3`, :mod:`transform`.
"""
