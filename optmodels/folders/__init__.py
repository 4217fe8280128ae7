"""Tables that fit into no memory: from a folder of Parquet parts to another."""
