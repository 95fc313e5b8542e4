class AddUpTest {}
