"""pocket-batch: text to speech by the hour, on CPUs, without anyone watching.

From a program:

    import pocket_batch

    engine = pocket_batch.load_engine("pocket", language="english")
    alba = engine.voice("alba")
    audio = engine.say("The tide came in, and nobody had asked it to.", alba)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pocket_batch.data import Sampling
    from pocket_batch.jobs.library import LoadedEngine
    from pocket_batch.settings import PrecisionChoice


def load_engine(
    name: str = "pocket",
    *,
    language: str = "",
    model: str = "",
    precision: "PrecisionChoice" = "auto",
    sampling: "Sampling | None" = None,
) -> "LoadedEngine":
    """An engine to speak with from a program, in this process.

    Args:
        name: `pocket`, `hibari` (the embedded English voice), or another of `ENGINES`.
        language: of the texts: `english`, `french`, ..., or a BCP 47 tag; English by default.
        model: instead of a language, a name from `pocket-batch models`, or a folder.
        precision: of the weights, `fp32`, `bf16` or `mixed`; `auto` is bf16 where this machine is
            fast in it, else fp32.
        sampling: temperature and the like; what it leaves open is what the model's file says.

    Returns:
        An engine with `.voice(name)` and `.say(text, voice)`.

    Raises:
        ModelUnavailableError: there is no such engine or model.
        UsageError: there is no such precision, or the engine has but one language, model and
            precision.

    With `pocket`, memory that is freed stays with this process for the next sentence.
    """
    from pocket_batch.jobs.library import LoadedEngine, engine_spec

    return LoadedEngine(engine_spec(name, language, model, precision, sampling))
