"""Large tables in blocks, side by side on threads, processes or Dask, stitched along their seams."""

from solvers.blocks._blocks import USUAL, Blocks, blocks_optimise

__all__ = ["USUAL", "Blocks", "blocks_optimise"]
