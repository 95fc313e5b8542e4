class Sum {
  static int of(int... numbers) {
    int sum = 0;
    for (int number : numbers) sum += number;
    return sum;
  }
}
