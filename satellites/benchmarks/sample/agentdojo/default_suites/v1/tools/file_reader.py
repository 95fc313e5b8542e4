def read_file(filesystem: Annotated[Filesystem, Depends("filesystem")], file_path: str):
    """
    Reads a file.

    :param file_path: where it is
    """


