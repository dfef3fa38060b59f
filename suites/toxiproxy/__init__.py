"""The real Toxiproxy: where its server comes from, its process, and what is asked of it."""
