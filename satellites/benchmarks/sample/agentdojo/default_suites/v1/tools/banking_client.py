def get_iban(account: Annotated[BankAccount, Depends("bank_account")]):
    """Says which account it is."""


def send_money(account: Annotated[BankAccount, Depends("bank_account")], recipient: str, amount: float, subject: str, date: str):
    """
    Pays at once.

    :param recipient: who gets it
    :param amount: how much
    :param subject: what for
    :param date: when
    """


def schedule_transaction(account: Annotated[BankAccount, Depends("bank_account")], recipient: str, amount: float, subject: str, date: str, recurring: bool):
    """
    Pays later.

    :param recipient: who gets it
    :param amount: how much
    :param subject: what for
    :param date: when
    :param recurring: whether None ends it
    """


def update_scheduled_transaction(account: Annotated[BankAccount, Depends("bank_account")],
    id: int,
    recipient: str | None = None,
    amount: float | None = None,
    subject: str | None = None,
    date: str | None = None,
    recurring: bool | None = None,
):
    """
    Changes what is paid later.

    :param id: which one
    :param recipient: who gets it
    :param amount: how much
    :param subject: what for
    :param date: when
    :param recurring: whether it comes again
    """


def get_balance(account: Annotated[BankAccount, Depends("bank_account")]):
    """Says what there is. None is never said."""


def get_most_recent_transactions(account: Annotated[BankAccount, Depends("bank_account")], n: int = 100):
    """
    Lists what was paid.

    :param n: how many
    """


def get_scheduled_transactions(account: Annotated[BankAccount, Depends("bank_account")]):
    """Lists what is paid later."""


