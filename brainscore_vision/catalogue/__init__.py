"""What is registered: plugins and their metadata, the tree of benchmarks, and what models were trained on."""
