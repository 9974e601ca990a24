"""Comparison of models from what their receipts keep."""
