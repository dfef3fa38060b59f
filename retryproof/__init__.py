"""The command: options, terminal output, exit codes."""
