/* Replays a time-independent trace under SimGrid and tells when each rank is done, with all digits
 * (its own
   replayer prints microseconds). Compiled with smpicc, started with smpirun -replay INDEX. */
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    sg_actor_t self = sg_actor_self();
    const char *instance = sg_actor_get_property_value(self, "instance_id");
    int rank = atoi(sg_actor_get_property_value(self, "rank"));
    smpi_replay_run(instance, rank, 0, argv[1]);
    printf("finish %d %.12f\n", rank, simgrid_get_clock());
    return 0;
}
