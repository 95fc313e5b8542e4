class AddUp {
  static int of(int... numbers) {
    return Sum.of(numbers);
  }
}
