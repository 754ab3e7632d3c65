"""`report.html`: what a run made, and what of it to listen to again, from its work folder alone."""
