"""An experiment whose truth is known: drawn stimuli, simulated neuroids, and benchmarks on them.

Simulated2026 is its published data set; the selection of layers uses other stimuli and other noise.
"""
