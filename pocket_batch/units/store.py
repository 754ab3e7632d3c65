"""The files of a data set, in a local folder or behind a URL that fsspec knows.

Local files are written beside their name, synced to the disk, and moved, so that a name never
holds half a file, even when the machine goes down. Remote ones appear whole by themselves.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pocket_batch.errors import InputError, OutputError, UsageError, writing

_UNFINISHED = (".part", ".partial")


class Store:
    """Files by their names below one place, such as `units/ab/abcd.tar`.

    Attributes:
        url: of the place; a path where it is local.
        folder: the place if it is local, else None.
    """

    def __init__(self, url: str | Path) -> None:
        """Look up the kind of place; nothing is made, and no network is used.

        Raises:
            UsageError: the URL is of a kind for which a package is missing.
        """
        self.url = str(url)
        self._fs: Any = None
        if "://" not in self.url:
            self.folder: Path | None = Path(self.url)
            return
        if self.url.startswith(("file://", "local://")):
            self.folder = Path(self.url.partition("://")[2])
            return
        self.folder = None
        self._fs, self._root = _filesystem(self.url)

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return self.folder is not None

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        if self.folder is not None:
            return (self.folder / name).is_file()
        with self._reading(name):
            return bool(self._fs.isfile(self._path(name)))

    def size(self, name: str) -> int:
        """Bytes of a file.

        Raises:
            InputError: there is no such file.
        """
        with self._reading(name):
            if self.folder is not None:
                return (self.folder / name).stat().st_size
            return int(self._fs.size(self._path(name)))

    def read(self, name: str) -> bytes:
        """A whole file.

        Raises:
            InputError: it cannot be read.
        """
        with self._reading(name):
            if self.folder is not None:
                return (self.folder / name).read_bytes()
            return bytes(self._fs.cat_file(self._path(name)))

    def open(self, name: str) -> BinaryIO:
        """A file to read and seek in.

        Raises:
            InputError: it cannot be opened.
        """
        with self._reading(name):
            if self.folder is not None:
                return (self.folder / name).open("rb")
            opened: BinaryIO = self._fs.open(self._path(name), "rb", block_size=2**22)
            return opened

    def write(self, name: str, data: bytes) -> None:
        """Write a whole file.

        Raises:
            OutputError: it cannot be written.
        """
        if self.folder is None:
            with self._writing(name):
                self._fs.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(self._path(name), data)
            return
        path = self.folder / name
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                part.write_bytes(data)
                _move(part, path)
            except OSError:
                part.unlink(missing_ok=True)
                raise

    def put(self, local: Path, name: str) -> None:
        """Move a finished local file in, under its name.

        Raises:
            OutputError: it cannot be written.
        """
        if self.folder is None:
            with self._writing(name):
                self._fs.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)
                self._fs.put_file(str(local), self._path(name))
            local.unlink()
            return
        path = self.folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if os.stat(local).st_dev != os.stat(path.parent).st_dev:
                part = path.with_name(f"{path.name}.{os.getpid()}.part")
                shutil.copyfile(local, part)
                local.unlink()
                local = part
            _move(local, path)

    def list(self, prefix: str) -> list[str]:
        """Names of all finished files below a folder, sorted; none when there is no such folder."""
        if self.folder is not None:
            top = self.folder
            paths = (p for p in (top / prefix).rglob("*") if p.is_file())
            names = [p.relative_to(top).as_posix() for p in paths]
        else:
            with self._reading(prefix):
                self._fs.invalidate_cache()
                found = self._fs.find(self._path(prefix))
            names = [path[len(self._root) :].lstrip("/") for path in found]
        return sorted(name for name in names if not name.endswith(_UNFINISHED))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there.

        Raises:
            OutputError: it cannot be removed.
        """
        if self.folder is not None:
            with writing(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)
        elif self.exists(name):
            with self._writing(name):
                self._fs.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _place(self, name: str) -> str:
        return f"{self.url.rstrip('/')}/{name}"

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"{self._place(name)} cannot be read ({reason}).") from error

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Remote stores raise errors of the operating system for whatever goes wrong."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(
                f"{self._place(name)} could not be written ({reason}). What was done before is "
                "kept: run the same command again."
            ) from error


def _filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: this kind of place cannot be used here ({error}).") from error
    return fs, str(root).rstrip("/")


def _move(part: Path, path: Path) -> None:
    """Give a written file its name, for good."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(part, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive a crash of the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
