"""The events of a runtime, told apart by their kinds, which the schema leaves open."""

from typing import Any, Literal, TypeAlias, TypedDict, Union


class LaggedEvent(TypedDict):
    """The last event: too much waited to be taken. Attach again with `cursor` as `after`."""
    kind: Literal["lagged"]
    cursor: int


class DisconnectedEvent(TypedDict):
    """The last event: the runtime is gone."""
    kind: Literal["disconnected"]
    reason: str


class RuntimeRequest(TypedDict):
    """What a runtime asks."""
    id: int
    """The `requestId` of the answer."""
    kind: str
    """The `kind` of the answer: `approval` or `elicitation`; for all else that is `other`."""
    payload: dict[str, Any]
    """What is asked, as the runtime spells it."""


class RequestPayload(TypedDict):
    """The payload of `request`."""
    request: RuntimeRequest


class RequestEvent(TypedDict):
    """A person is asked, and `runtime/respond` answers."""
    sequence: int
    kind: Literal["request"]
    payload: RequestPayload


class ToldEvent(TypedDict):
    """All else. A runtime may tell kinds that are not listed here: leave them an `else`."""
    sequence: int
    """The runtime's own number. Gaps are normal."""
    kind: Literal[
        "user_message",
        "turn_started",
        "turn_succeeded",
        "turn_interrupted",
        "turn_failed",
        "turn_completed",
        "text_delta",
        "reasoning",
        "tool_call_started",
        "tool_call_completed",
        "request_resolved",
        "usage",
        "model_changed",
        "native_event",
        "runtime_disconnected",
    ]
    payload: dict[str, Any]
    """The event as the runtime told it; docs/reference/runtime.md has the shapes."""


RuntimeEvent: TypeAlias = Union[LaggedEvent, DisconnectedEvent, RequestEvent, ToldEvent]
"""An event of a runtime, or one of two about its stream, `lagged` and `disconnected`, which nothing follows."""
