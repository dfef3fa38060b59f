"""The real Toxiproxy: where its server comes from, its process, and the one file that speaks to it."""
