"""Install the package and score a registered model."""

from brainscore_vision import score

result = score("gabor", "Simulated2026.V1-pls")
low, high = result.attrs["ci"]
print(f"{float(result):.3f} (95 %: {low:.3f}–{high:.3f}; {result.attrs['ci_estimates']})")
