DEFAULT_STATE = {"username": "ada", "password": "x", "authenticated": False, "tweets": {}, "comments": {}, "retweets": {}, "following_list": [], "tweet_counter": 0}
