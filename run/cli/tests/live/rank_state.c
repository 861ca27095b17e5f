/* How a rank rounds and what it has noted of exceptions is its own; one that ends at once, after
 * all, ends alone. */
#include "check.h"
#include <fenv.h>
#include <unistd.h>

int main(int argc, char **argv) {
    volatile double one = 1, zero = 0, three = 3;
    begin(&argc, &argv);
    if (rank == 1)
        fesetround(FE_UPWARD);
    if (rank == 2)
        one = one / zero;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fegetround() == (rank == 1 ? FE_UPWARD : FE_TONEAREST));
    CHECK((fetestexcept(FE_DIVBYZERO) != 0) == (rank == 2));
    CHECK((1 / three > 0.33333333333333333) == (rank == 1));
    int wrong = end();
    printf("rank %d\n", rank);
    fflush(stdout);
    _exit(wrong);
}
