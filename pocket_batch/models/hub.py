"""Where a file of a model is: in a folder, in a mirror, in the hub's cache, or on a server.

A location is `hf://owner/repository/path/in/it@revision` (the revision may be left out),
`https://...`, or a path. Files of the hub land in the cache that all programs with huggingface_hub
share, and its variables hold here too (HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN,
HF_HUB_OFFLINE). POCKET_BATCH_MIRROR names a folder laid out as `owner/repository/path`, as
`hf download owner/repository --local-dir MIRROR/owner/repository` leaves it; it is looked at first.
"""

import hashlib
import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from pocket_batch.config import cache_folder
from pocket_batch.errors import writing
from pocket_batch.models.advice import Wanted, not_downloaded, not_on_disk
from pocket_batch.models.download import (
    REACH_S,
    Source,
    TransferError,
    download,
    within,
)
from pocket_batch.models.download import (
    Progress as Progress,  # others that fetch take it from here
)
from pocket_batch.models.integrity import is_intact
from pocket_batch.models.location import (
    HubFile,
    is_commit,
    is_possible,
    is_url,
    mirror_folder,
    parse_hub,
)

LINK_S = 60.0  # a disk without links takes a copy


def _silent(name: str, num_bytes: int, total_bytes: int) -> None:
    """Nobody looks."""


def find(location: str) -> Path | None:
    """The file if it is on this machine: in its folder, in the mirror, or in a cache.

    Never uses the network, and takes well under a millisecond for a pinned file.

    Raises:
        UsageError: the location is malformed.
    """
    file = parse_hub(location)
    if not is_possible(location):
        return None
    if file:
        return _in_mirror(file) or _in_hub_cache(file)
    path = _url_target(location) if is_url(location) else Path(os.path.expanduser(location))
    return path if os.path.isfile(path) else None


def fetch(
    location: str,
    progress: Progress = _silent,
    *,
    sha256: str = "",
    model: str = "NAME",
    cloning: bool = False,
) -> Path:
    """The file, downloaded if it is not on this machine. A download that broke off goes on.

    Args:
        location: where it is.
        progress: told the file's name, its bytes so far, and all its bytes or 0.
        sha256: of its content, if known; checked after a download.
        model: the name to use in what a message recommends.
        cloning: it is wanted for cloning voices; likewise.

    Raises:
        ModelUnavailableError: it cannot be had, or what came was damaged.
        OutputError: no space, or no permission.
        UsageError: the location is malformed.
    """
    found = find(location)
    if found:
        return found
    wanted = Wanted(location, sha256.lower(), model, cloning)
    file = parse_hub(location)
    if not is_possible(location) or not (file or is_url(location)):
        raise not_on_disk(wanted)
    try:
        with _hushed():
            return _fetch_hub(file, wanted, progress) if file else _fetch_url(wanted, progress)
    except TransferError as error:
        raise not_downloaded(error, wanted) from error


def is_pinned_snapshot(location: str, path: Path) -> bool:
    """Whether `path` is the file of a whole commit in the hub's cache: its content is known."""
    file = parse_hub(location)
    return bool(file and file.is_pinned and path == _snapshot(file))


def _in_mirror(file: HubFile) -> Path | None:
    folder = mirror_folder()
    path = folder / file.repository / file.path if folder else None
    return path if path and os.path.isfile(path) else None


def _in_hub_cache(file: HubFile) -> Path | None:
    """Look for the file by the documented layout: importing the hub's own way takes 0.3 s.

    Source: huggingface_hub, "Understand caching".
    """
    if file.is_pinned:
        path = _snapshot(file)
        return path if os.path.isfile(path) else None
    if not os.path.isdir(_repository_folder(file)):
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(file.repository, file.path, revision=file.revision or None)
    return Path(found) if isinstance(found, str) else None


def _repository_folder(file: HubFile) -> Path:
    from huggingface_hub import constants

    name = "--".join(["models", *file.repository.split("/")])
    return Path(constants.HF_HUB_CACHE).expanduser() / name


def _snapshot(file: HubFile) -> Path:
    """Where the cache has the file of a whole commit."""
    return _repository_folder(file) / "snapshots" / file.revision / file.path


def _fetch_hub(file: HubFile, wanted: Wanted, progress: Progress) -> Path:
    """Download into the hub's cache: our own resumable part, the hub's own bookkeeping.

    huggingface_hub starts over when a download was cut, so only the blob is ours; with the blob
    in its place, `hf_hub_download` makes the snapshot without downloading.
    """
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    if constants.is_offline_mode():
        raise TransferError("HF_HUB_OFFLINE is set")
    with writing(_repository_folder(file)):
        Path(constants.HF_HUB_CACHE).mkdir(parents=True, exist_ok=True)
    url = hf_hub_url(file.repository, file.path, revision=file.revision or None)
    about = within(REACH_S, lambda: get_hf_file_metadata(url, timeout=REACH_S))
    if not is_commit(about.commit_hash or "") or not re.fullmatch(
        r"[\w-]{1,128}", about.etag or ""
    ):
        raise TransferError(f"{urlsplit(url).netloc} answered, but not as a hub does")
    blobs = _repository_folder(file) / "blobs"
    blob = blobs / str(about.etag)
    source = Source(
        name=PurePosixPath(file.path).name,
        url=hf_hub_url(file.repository, file.path, revision=about.commit_hash),
        headers=build_hf_headers(),
        size=about.size or 0,
        digest=wanted.sha256 or blob.name,
    )
    if blob.exists() and not is_intact(blob, source.digest):
        blob.unlink()
    if not blob.exists():
        download(source, blob, blobs / f"{blob.name}.pocket-batch.incomplete", progress)
    return _link_blob(file)


def _link_blob(file: HubFile) -> Path:
    """Have the hub's own code make the snapshot of a blob that is there."""
    from huggingface_hub import hf_hub_download

    def link() -> Path:
        return Path(
            hf_hub_download(
                file.repository,
                file.path,
                revision=file.revision or None,
                etag_timeout=REACH_S,
            )
        )

    with writing(_repository_folder(file)):
        try:
            return within(LINK_S, link)
        except TransferError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno:
                raise error.__cause__ from None  # of the disk; those of the hub have no number
            raise


def _fetch_url(wanted: Wanted, progress: Progress) -> Path:
    target = _url_target(wanted.location)
    source = Source(
        name=PurePosixPath(urlsplit(wanted.location).path).name,
        url=wanted.location,
        digest=wanted.sha256,
        keep_etag=True,
    )
    download(source, target, target.with_name(target.name + ".part"), progress)
    return target


def _url_target(url: str) -> Path:
    """Where a file of a server is kept: `pocket-batch` in the user's cache folder."""
    name = hashlib.sha256(url.encode()).hexdigest() + PurePosixPath(urlsplit(url).path).suffix
    return cache_folder() / "downloads" / name


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep the hub's remarks off the terminal; our own messages say what matters."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
