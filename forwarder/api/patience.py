"""How long the end of a server takes, in seconds: less than the 30 that Kubernetes gives from SIGTERM to SIGKILL, with
some to spare for a slow machine and a slow disk.
"""

DRAIN_S = 20  # for operations in flight; an option
LAST_ANSWERS_S = 5  # for callers to take their answers once there are no more operations
GRACE_S = 1  # for forwards to say what they know once their connections are closed
