"""What reproduces the paper: its experiments, its invariance, its figures. Nothing in the library needs it."""
