# Nothing newer.
