"""What a file's own parser says of it: one module for each kind of file, `look` to find and share out the files."""
