"""A Ray cluster of two nodes on this machine, in a process of its own: Ray's threads and handlers are none of pytest's.

It says where it is; then it does what each line of stdin says, and says when that is done. It ends when stdin does.
"""

import os
import sys
from pathlib import Path

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
SYSTEM = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 3,
    "worker_niceness": 0,  # 15 by default, beside which whatever else this machine does comes first
}


def main() -> None:
    """Start it in the folder that is named: its sockets have long names, so that of the folder must be short."""
    folder = Path(sys.argv[1])
    os.environ.update(RAY_TMPDIR=str(folder), RAY_USAGE_STATS_ENABLED="0")
    (folder / "ray").mkdir()
    words = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from ray.cluster_utils import Cluster

    head = {**NODE, "include_dashboard": False, "_system_config": SYSTEM}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**NODE)]
    print(cluster.address, file=words, flush=True)
    for line in sys.stdin:
        match line.strip():
            case "kill":
                cluster.remove_node(nodes.pop(), allow_graceful=False)
            case "add":
                nodes.append(cluster.add_node(**NODE))
            case order:
                raise ValueError(f"{order!r}; expected kill or add")
        print("done", file=words, flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
