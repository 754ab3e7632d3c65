"""The files of a data set, in a local folder or behind a URL that fsspec knows.

Local files are written beside their name, synced to the disk, and moved, so that a name never
holds half a file, even when the machine goes down. Object stores show whole files only; elsewhere
files are moved too.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from pocket_batch.errors import InputError, OutputError, UsageError, writing

_UNFINISHED = (".part", ".partial")
_OBJECT_STORES = {"abfs", "abfss", "az", "gcs", "gs", "memory", "oss", "s3", "s3a"}
# What their packages raise when there is no network, no permission or no bucket.
_REMOTE_ERRORS = (
    ("aiohttp", "ClientError"),
    ("azure.core.exceptions", "AzureError"),
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("gcsfs.retry", "HttpError"),
    ("paramiko", "SSHException"),
)


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
        with self.reading(name):
            if self.folder is not None:
                return (self.folder / name).is_file()
            try:
                return bool(self._fs.info(self._path(name))["type"] == "file")
            except FileNotFoundError:
                return False

    def size(self, name: str) -> int:
        """Bytes of a file.

        Raises:
            InputError: there is no such file.
        """
        with self.reading(name):
            if self.folder is not None:
                return (self.folder / name).stat().st_size
            return int(self._fs.size(self._path(name)))

    def read(self, name: str) -> bytes:
        """A whole file.

        Raises:
            InputError: it cannot be read.
        """
        with self.reading(name):
            if self.folder is not None:
                return (self.folder / name).read_bytes()
            return bytes(self._fs.cat_file(self._path(name)))

    def open(self, name: str) -> BinaryIO:
        """A file to read and seek in.

        Raises:
            InputError: it cannot be opened.
        """
        with self.reading(name):
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
            with self._writing(name), self._named(name) as place:
                self._fs.pipe_file(place, data)
            return
        path = self.folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with _beside(path) as part:
                part.write_bytes(data)
                _move(part, path)

    def put(self, local: Path, name: str) -> None:
        """Move a finished local file in, under its name.

        Raises:
            OutputError: it cannot be written.
        """
        if self.folder is None:
            with self._writing(name), self._named(name) as place:
                self._fs.put_file(str(local), place)
            local.unlink()
            return
        path = self.folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if os.stat(local).st_dev == os.stat(path.parent).st_dev:
                _move(local, path)
                return
            with _beside(path) as part:
                shutil.copyfile(local, part)
                _move(part, path)
            local.unlink()

    def list(self, prefix: str) -> list[str]:
        """Names of all finished files below a folder, sorted; none when there is no such folder."""
        with self.reading(prefix):
            if self.folder is not None:
                names = list(_walk(self.folder, prefix))
            else:
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
    def _named(self, name: str) -> Iterator[str]:
        """Where to write a remote file, which has its name when all of it is there."""
        path = self._path(name)
        if not self.url.startswith(tuple(f"{kind}://" for kind in _OBJECT_STORES)):
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            part = f"{path}.{uuid4().hex[:12]}.part"
            yield part
            if self._fs.exists(path):
                self._fs.rm_file(path)  # SFTP does not move over a file
            self._fs.mv(part, path)
            return
        yield path

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Turn what goes wrong while a file is read into an `InputError`."""
        try:
            yield
        except _errors() as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise InputError(
                f"{self._place(name)} cannot be read ({reason}). "
                "Look at its address, its permissions and the network."
            ) from error

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """As `reading`, into an `OutputError`."""
        try:
            yield
        except _errors() as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise OutputError(
                f"{self._place(name)} could not be written ({reason}). What was done before is "
                "kept: look at its permissions and the network, and run the same command again."
            ) from error


def _errors() -> tuple[type[Exception], ...]:
    """Errors of the operating system, and of those packages that are in use."""
    found: list[type[Exception] | None] = [
        getattr(sys.modules.get(module), name, None) for module, name in _REMOTE_ERRORS
    ]
    return OSError, *(error for error in found if error is not None)


def _filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    import fsspec

    try:
        # Others write into the same place: a list of an hour ago says nothing.
        fs, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: this kind of place cannot be used here ({error}).") from error
    return fs, str(root).rstrip("/")


def _walk(top: Path, prefix: str) -> Iterator[str]:
    """Names of all files below a folder of `top`."""
    for folder, _, files in os.walk(top / prefix, onerror=_raise_unless_missing):
        below = Path(folder).relative_to(top).as_posix()
        yield from (f"{below}/{name}" if below != "." else name for name in files)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A name for a file that is not finished; nothing is left of it when that fails."""
    part = path.with_name(f"{path.name}.{uuid4().hex[:12]}.part")
    try:
        yield part
    except OSError:
        part.unlink(missing_ok=True)
        raise


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
