def hint():
    return " Note that it is called as in Python 3 ."
