"""Data by name: those of the published studies, and synthetic ones."""

from optmodels.datasets.known import ADULT_COLUMNS, DATASETS, Dataset, Source, dataset, download, frame, load, locate

__all__ = ["ADULT_COLUMNS", "DATASETS", "Dataset", "Source", "dataset", "download", "frame", "load", "locate"]
