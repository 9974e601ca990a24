"""Review of submissions: what waits, what was computed about it, what is said about it, and the verdict.

``shown`` and ``threads`` are used by submitters' pages too, ``telling`` by the pipeline.
"""
