"""`python -m optmodels` is the `optmodels` script."""

from optmodels.cli import main

if __name__ == "__main__":
    main()
