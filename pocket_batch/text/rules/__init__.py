"""The rules that write a text out with the table of its language, one class of writing a file."""
