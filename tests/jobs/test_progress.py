"""What is told of a download."""

from pocket_batch.jobs.progress import Download, DownloadMeter, Silent


class Listener(Silent):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.downloads: list[Download] = []

    def note(self, event: str, text: str, level: object = "info", **fields: object) -> None:
        self.notes.append(text)

    def download(self, snapshot: Download) -> None:
        self.downloads.append(snapshot)


def test_each_file_is_named_once_with_its_size() -> None:
    listener = Listener()
    meter = DownloadMeter(listener)
    for num_bytes in range(0, 1001, 10):
        meter.report("model.safetensors", num_bytes, 1000)
    meter.report("tokenizer.json", 0, 0)
    meter.report("alba.safetensors", 1_000_000, 2_000_000)
    assert listener.notes == [
        "Downloading model.safetensors, 1 kB.",
        "Downloading tokenizer.json.",
        "Downloading alba.safetensors, 2 MB, of which 1 MB are here.",
    ]


def test_progress_is_told_a_few_times_a_second_and_at_the_end() -> None:
    listener = Listener()
    meter = DownloadMeter(listener)
    for num_bytes in range(10_001):
        meter.report("model.safetensors", num_bytes, 10_000)
    assert 2 <= len(listener.downloads) <= 10
    assert listener.downloads[0].num_bytes == 0
    assert listener.downloads[-1].num_bytes == 10_000


def test_what_was_here_before_does_not_count_as_speed() -> None:
    listener = Listener()
    meter = DownloadMeter(listener)
    meter.report("model.safetensors", 1_000_000_000, 1_000_000_010)
    meter.report("model.safetensors", 1_000_000_010, 1_000_000_010)
    assert listener.downloads[0].bytes_per_s == 0
    assert listener.downloads[1].bytes_per_s < 1e9
