"""One folder a paper: what is run, what is drawn, what is claimed; see `wordline_lab.reproduce`."""
