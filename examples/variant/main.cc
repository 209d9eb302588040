#include <opbench/run.h>

int main(int argc, char** argv) { return opbench::run_program(argc, argv); }
