"""The clients of the matrix, by name."""

from suites.evidence.aiohttp_client import AiohttpClient
from suites.evidence.client import Client
from suites.evidence.httpx_client import HttpxClient
from suites.evidence.reference_client import ReferenceClient
from suites.evidence.requests_client import RequestsClient
from suites.evidence.standard_client import StandardClient
from suites.evidence.urllib3_client import Urllib3Client

_ALL: tuple[Client, ...] = (
    AiohttpClient(),
    StandardClient(),
    HttpxClient(),
    ReferenceClient(),
    RequestsClient(),
    Urllib3Client(),
)
CLIENTS: dict[str, Client] = {client.name: client for client in _ALL}
