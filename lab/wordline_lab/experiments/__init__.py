"""One folder per paper: runs, figures and claims; see `wordline_lab.reproduce`."""
