DEFAULT_STATE = {
    "orders": {7: {"id": 7, "order_type": "Buy", "symbol": "ONE", "price": 2.5, "amount": 4, "status": "Completed"}},
    "account_info": {"account_id": 1, "balance": 100.0, "binding_card": 12345678901234567},
    "authenticated": False,
    "market_status": "Open",
    "order_counter": 8,
    "stocks": {"ONE": {"price": 2.5, "percent_change": -1.0, "volume": 3.5, "MA(5)": 2.5, "MA(20)": 2.0}},
    "watch_list": ["ONE"],
    "transaction_history": [],
    "random_seed": 1053520,
}
symbol_map = {"First": "ONE"}
sector_map = {"Technology": ["ONE", "TWO"]}
