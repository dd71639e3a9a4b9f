"""See, watch and join every coding-agent session of this machine, over a Tackroom server."""

from . import types
from ._attachment import Attachment
from ._subscription import Follow, Watch
from .client import Tackroom
from .errors import BinaryMissing, CannotStart, ServerEnded, TackroomError

__all__ = [
    "Attachment",
    "BinaryMissing",
    "CannotStart",
    "Follow",
    "ServerEnded",
    "Tackroom",
    "TackroomError",
    "Watch",
    "types",
]
