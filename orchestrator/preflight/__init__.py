"""Known failures as rules, one small file a theme. Each returns every finding it has, never only the first."""
