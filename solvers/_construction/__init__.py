"""What constructions share: trees of boxes, medians, what is left over, and merging until conditions hold."""
