DEFAULT_STATE = {
    "random_seed": 141053,
    "credit_card_list": {},
    "booking_record": {},
    "access_token": None,
    "token_type": None,
    "token_expires_in": None,
    "token_scope": None,
    "user_first_name": None,
    "user_last_name": None,
    "budget_limit": None,
}
base_costs: Dict[Tuple[str, str], int] = {("AAA", "BBB"): 100, ("BBB", "CCC"): 70}
exchange_rates = {("USD", "XXX"): 3}
airport_map = {"Atown": "AAA"}


class Sample:
    def list_all_airports(self):
        """
        Returns:
            airports (List[str]): A list of all available airports
        """
        return ["AAA", "BBB", "CCC"]

    def contact(self):
        return {"customer_support_message": "We call back."}
