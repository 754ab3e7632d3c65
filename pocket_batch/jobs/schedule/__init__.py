"""Files that make a scheduler run a job every night, filled in from the job file."""
