"""Is anything wrong ever released, any bound ever wrong, any file ever lost? `make trust` tries to make it so."""
