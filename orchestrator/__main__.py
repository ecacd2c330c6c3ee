"""`python -m orchestrator` is `post-train`."""

from orchestrator.cli import main

if __name__ == "__main__":
    main()
