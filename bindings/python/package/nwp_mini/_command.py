"""The command nwp-mini."""

import sys

from nwp_mini import _core


def main() -> None:
    """Run the command line of this process, and end with its exit code."""
    sys.exit(_core.main(["nwp-mini", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
