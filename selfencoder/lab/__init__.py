"""What compares the package with others, on tables that are fetched. It is not in the wheel."""
