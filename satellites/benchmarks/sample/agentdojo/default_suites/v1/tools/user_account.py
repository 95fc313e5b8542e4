def get_user_info(account: Annotated[UserAccount, Depends("user_account")]):
    """Says who it is."""


def update_password(account: Annotated[UserAccount, Depends("user_account")], password: str):
    """
    Sets a password.

    :param password: the new one
    """


def update_user_info(account: Annotated[UserAccount, Depends("user_account")],
    first_name: str | None = None,
    last_name: str | None = None,
    street: str | None = None,
    city: str | None = None,
):
    """
    Changes who it is.

    :param first_name: the first name
    :param last_name: the last name
    :param street: the street
    :param city: the city
    """


