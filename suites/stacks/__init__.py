"""Stacks that Docker Compose brings up: a forwarder in containers, as one deploys it."""
