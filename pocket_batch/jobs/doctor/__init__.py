"""What is wrong with this machine, a job or a cluster, looked for before a night."""
