class AddUp {}
