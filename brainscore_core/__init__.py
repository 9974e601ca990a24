"""Domain-free core: data standard, contracts, numerics, plugins, scoring."""
