DEFAULT_STATE = {"generated_ids": set(), "user_count": 1, "user_map": {"Ada": "USR001"}, "inbox": [], "message_count": 0, "current_user": None}
