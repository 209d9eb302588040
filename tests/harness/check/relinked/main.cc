extern "C" {
int first_word(int number);
double first_jump(int number, double x);
double first_table(int number, double x);
double first_calls_second(const double* values, int count);
double second_alone(double x);
}

int main(int count, char**) {
  const double values[] = {1, 2, 3};
  return static_cast<int>(first_word(count) + first_jump(count, 2.5) + first_table(count, 1) +
                          first_calls_second(values, 3) + second_alone(count));
}
