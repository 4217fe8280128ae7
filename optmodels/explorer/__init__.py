"""The explorer: fronts, points, runs and studies in a browser, served on this machine alone.

A front is looked at, understood, and left with an audited release. The server is Python's own, the page plain HTML,
CSS and modules; whatever takes long runs in a process of its own.
"""
