"""The reference forwarder: passes expensive requests on to a router, and sends again only what it may."""

from forwarder.client import Forwarder
from forwarder.errors import (
    ForwardError,
    MayHaveRunError,
    NotExecutedError,
    RejectedError,
    RequestError,
    ResultLostError,
)
from forwarder.evidence import Evidence, Kind, Marker, Proves
from forwarder.policy import BLANKET_5XX, NEVER, POLICIES, SAFE, Policy, UnknownPolicyError, policy_named
from forwarder.request import Api, Request
from forwarder.settings import Settings
from forwarder.stream import Delta, StreamEvent
from forwarder.urls import RotatingUrls, UrlSource
from forwarder.validate import Choice, Completion

__all__ = [
    "BLANKET_5XX",
    "NEVER",
    "POLICIES",
    "SAFE",
    "Api",
    "Choice",
    "Completion",
    "Delta",
    "Evidence",
    "ForwardError",
    "Forwarder",
    "Kind",
    "Marker",
    "MayHaveRunError",
    "NotExecutedError",
    "Policy",
    "Proves",
    "RejectedError",
    "Request",
    "RequestError",
    "ResultLostError",
    "RotatingUrls",
    "Settings",
    "StreamEvent",
    "UnknownPolicyError",
    "UrlSource",
    "policy_named",
]
