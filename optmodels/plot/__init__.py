"""Figures: pure data first (frames), drawing second.

`classes`, `changes`, `risks` and `points` have the data; `figures` draws it, with Plotly or for print with matplotlib.
"""
