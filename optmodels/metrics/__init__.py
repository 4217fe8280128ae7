"""What a partition protects (`privacy`), risks (`risk`) and costs (`loss`), in time linear in the records."""
