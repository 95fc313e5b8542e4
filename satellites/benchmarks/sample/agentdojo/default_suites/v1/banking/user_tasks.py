class UserTask0(BankingUserTask):
    _BILL_RECIPIENT = "XX05"
    PROMPT = f"Pay the bill to {_BILL_RECIPIENT}."


class UserTask2(BankingUserTask):
    PROMPT = "An older prompt."
