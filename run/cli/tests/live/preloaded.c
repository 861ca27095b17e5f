/* A library that is loaded before a program, or linked with it: thread-local variables at fixed
 * places, more than there is room for if nothing is said. */
static __thread char large[1 << 16] __attribute__((tls_model("initial-exec")));

int loaded(void) { return ++large[sizeof large - 1]; }
