"""The cells of one subject, the comparison of two, and what is written of them. Reports run nothing."""
