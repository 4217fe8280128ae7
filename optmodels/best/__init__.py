"""A library of best-known solutions: instances that anyone can build again, and the best partition known of each."""
