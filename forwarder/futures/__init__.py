"""Results that survive: what was accepted is remembered, and its result is kept until it has been fetched."""
