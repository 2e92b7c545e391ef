"""The laboratory: the paper's experiments, its invariance, and benchmarks. Nothing in the library needs it."""
