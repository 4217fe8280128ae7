"""What is open in the explorer: fronts, studies and files, each under a short name that addresses can hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from optmodels.datasets import DATASETS
from optmodels.errors import InputError, nearest
from optmodels.explorer.aside import Asides
from optmodels.explorer.data_files import DataFile
from optmodels.explorer.fronts import SavedFront
from optmodels.explorer.jobs import Jobs
from optmodels.explorer.studies import SavedStudy

Thing = TypeVar("Thing")

DATA_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather")
STUDY_ENDINGS = (".db", ".sqlite")


class Shelf(Generic[Thing]):
    """Things of one kind under the ids that the page knows them by, the oldest first."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._things: dict[str, Thing] = {}
        self._places: dict[str, str] = {}
        self._lock = Lock()

    def put(self, place: str, thing: Thing) -> str:
        """Keep a thing; what is opened twice replaces what was opened before."""
        with self._lock:
            number = self._places.setdefault(place, str(len(self._places) + 1))
            self._things[number] = thing
            return number

    def __getitem__(self, number: str) -> Thing:
        if number not in self._things:
            raise InputError(f"There is no {self.what} '{number}' open in this explorer: load the page again.")
        return self._things[number]

    def items(self) -> Iterator[tuple[str, Thing]]:
        """Ids and things."""
        return iter(list(self._things.items()))


class Workspace:
    """Everything that one explorer has open, and the jobs that it runs."""

    def __init__(self, places: tuple[str, ...] = ()) -> None:
        self.fronts: Shelf[SavedFront] = Shelf("front")
        self.studies: Shelf[SavedStudy] = Shelf("study")
        self.files: Shelf[DataFile] = Shelf("file")
        self.asides = Asides()
        self.jobs = Jobs()
        self._seen: dict[str, dict[str, Any]] = {}
        for place in places:
            self.open(place)

    def open(self, place: str) -> list[dict[str, str]]:
        """Open what is at a place: the folder of a front or of several, a study's file, a data file or a dataset.

        Raises:
            InputError: there is nothing of the kind.
        """
        path = Path(place).expanduser()
        if place in DATASETS:
            return [self._opened("file", self.files, place, DataFile(place))]
        if path.is_dir():
            folders = [path] if (path / "front.json").is_file() else sorted(p.parent for p in path.glob("*/front.json"))
            if not folders:
                raise InputError(
                    f"There is no front in '{place}': name one that 'optmodels pareto' wrote, or one that holds such."
                )
            return [self._opened("front", self.fronts, str(f.resolve()), SavedFront(_title(f), f)) for f in folders]
        if not path.is_file():
            raise InputError(
                f"'{place}' is neither a file, nor a folder, nor a known dataset.{nearest(place, DATASETS)} "
                f"Datasets: {', '.join(sorted(DATASETS))}."
            )
        if path.suffix.lower() in STUDY_ENDINGS:
            return [self._opened("study", self.studies, str(path.resolve()), SavedStudy(path))]
        if path.suffix.lower() not in DATA_ENDINGS:
            raise InputError(
                f"'{place}' is of no kind that the explorer opens: folders of fronts, studies in "
                f"{', '.join(STUDY_ENDINGS)}, and data in {', '.join(DATA_ENDINGS)}."
            )
        opened = self._opened("file", self.files, str(path.resolve()), DataFile(str(path)))
        self._seen.pop(opened["id"], None)  # what is opened again may have changed
        return [opened]

    def seen(self, number: str) -> dict[str, Any]:
        """What was seen in a file, by another process where it is large; remembered."""
        if number not in self._seen:
            file = self.files[number]
            document = json.loads(self.asides.ask("inspect", file.place).body) if file.large else file.document()
            self._seen[number] = document
        return {**self._seen[number], "folder": self.files[number].free_folder()}

    def _opened(self, kind: str, shelf: Shelf[Thing], place: str, thing: Thing) -> dict[str, str]:
        return {"kind": kind, "id": shelf.put(place, thing), "name": str(getattr(thing, "name", place))}

    def document(self) -> Mapping[str, Any]:
        """What is open, by kind."""
        return {
            "fronts": [
                {"id": number, "name": front.name, "folder": str(front.folder)} for number, front in self.fronts.items()
            ],
            "studies": [{"id": number, "name": study.name} for number, study in self.studies.items()],
            "files": [{"id": number, "name": file.name} for number, file in self.files.items()],
            "jobs": self.jobs.document(),
        }

    def close(self) -> None:
        """End every job and leave no process behind."""
        self.asides.close()
        self.jobs.close()


def _title(folder: Path) -> str:
    resolved = folder.resolve()
    return resolved.name if resolved.name != "front" else f"{resolved.parent.name}/front"
