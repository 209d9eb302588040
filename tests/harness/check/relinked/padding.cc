// Moves all that is linked behind it: code, constants, what a thread has.
extern "C" {
thread_local int padding_of_thread[3] = {1, 2, 3};
extern const double padding_constant = 12.75;
int padding(int x) { return x * 3 + padding_of_thread[x % 3]; }
}
__asm__(".text\n.skip 48, 0x90\n");
