"""What may go wrong, as data: faults, their truth, the evidence they leave, and plans that name them."""
