"""A router that breaks at an exact point of the exchange, on real sockets, and knows what it really did."""
