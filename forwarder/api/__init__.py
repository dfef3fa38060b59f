"""The API server for sampling: sessions, asample, retrieve_future, and what surrounds them."""
