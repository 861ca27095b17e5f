/* Numbers for handles: communicators, datatypes, operations, windows. */
#include "map.h"
#include "recorder.h"

#define KEY(handle) ((uint64_t)(uintptr_t)(handle))
#define DEFINE_COMMUNICATOR 2
#define DEFINE_NEIGHBOURS 3

MPI_Comm world;
static MPI_Group world_group;

static void *grown(void *list, size_t item, uint32_t count, uint32_t *room)
{
    if (count < *room)
        return list;
    *room = 2 * *room + 64;
    list = realloc(list, item * *room);
    if (!list)
        abort();
    return list;
}

/* ---- Groups ---- */

/* The members as ranks of the world, in scratch space that is good until the next call. Processes
 * that are not of this world (MPI_Comm_spawn) are left out. */
static int *world_ranks(MPI_Group group, int *known)
{
    int count = 0;
    static int *ranks, *found;
    static int room;
    PMPI_Group_size(group, &count);
    if (count > room || !ranks) {
        room = count + 64;
        free(ranks);
        free(found);
        ranks = malloc((size_t)room * sizeof *ranks);
        found = malloc((size_t)room * sizeof *found);
        if (!ranks || !found)
            abort();
        for (int rank = 0; rank < room; rank++)
            ranks[rank] = rank;
    }
    if (count > 0)
        PMPI_Group_translate_ranks(group, count, ranks, world_group, found);
    *known = 0;
    for (int index = 0; index < count; index++)
        if (found[index] != MPI_UNDEFINED)
            found[(*known)++] = found[index];
    return found;
}

size_t group_bytes(MPI_Group group)
{
    int count = 0;
    PMPI_Group_size(group, &count);
    return FIXED_BYTES + ITEM_BYTES * (size_t)count;
}

out_t put_group(out_t out, MPI_Group group)
{
    int count;
    const int *ranks = world_ranks(group, &count);
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put(out, (uint64_t)ranks[index]);
    return out;
}

/* The members as runs of a first rank, a step and a length. */
static out_t put_runs(out_t out, MPI_Group group)
{
    int known, runs = 0;
    const int *ranks = world_ranks(group, &known);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            out = put(out, (uint64_t)runs);
        for (int first = 0, next; first < known; first = next) {
            int step = first + 1 < known ? ranks[first + 1] - ranks[first] : 1;
            for (next = first + 1; next < known && ranks[next] - ranks[next - 1] == step;)
                next++;
            runs += pass == 0;
            if (pass == 1) {
                out = put(out, (uint64_t)ranks[first]);
                out = put_signed(out, step);
                out = put(out, (uint64_t)(next - first));
            }
        }
    }
    return out;
}

/* ---- Communicators ---- */

static struct map communicators;
static struct communicator **communicator_list;
static uint32_t communicator_count, communicator_room;
/* Communicators that this rank has numbered. */
static uint64_t numbered;
static int world_size = 1, world_rank;

static uint32_t add_communicator(struct communicator value)
{
    communicator_list = grown(communicator_list, sizeof *communicator_list, communicator_count,
                              &communicator_room);
    struct communicator *place = malloc(sizeof *place);
    if (!place)
        abort();
    *place = value;
    communicator_list[communicator_count] = place;
    return ++communicator_count;
}

static uint64_t next_number(void)
{
    uint64_t mine = __atomic_fetch_add(&numbered, 1, __ATOMIC_RELAXED);
    return 3 + mine * (uint64_t)world_size + (uint64_t)world_rank;
}

static void define_members(MPI_Comm handle, const struct communicator *value)
{
    MPI_Group local, remote;
    PMPI_Comm_group(handle, &local);
    size_t bytes = group_bytes(local) + ITEM_BYTES * (size_t)value->remote;
    out_t out = put(trace_define(DEFINE_COMMUNICATOR, bytes), value->number);
    out = put_runs(out, local);
    PMPI_Group_free(&local);
    if (value->remote) {
        PMPI_Comm_remote_group(handle, &remote);
        out = put_runs(out, remote);
        PMPI_Group_free(&remote);
    } else {
        out = put(out, 0);
    }
    trace_defined(out);
}

static out_t put_ranks(out_t out, const int *ranks, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put_rank(out, ranks[index]);
    return out;
}

/* The neighbours of this rank, in the order of the neighbourhood collectives. */
static void define_neighbours(MPI_Comm handle, struct communicator *value)
{
    int topology = MPI_UNDEFINED, weighted = 0, dimensions = 0;
    PMPI_Topo_test(handle, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(handle, &dimensions);
        value->sources = value->destinations = 2 * dimensions;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(handle, value->rank, &value->sources);
        value->destinations = value->sources;
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(handle, &value->sources, &value->destinations, &weighted);
    } else {
        return;
    }
    size_t count = (size_t)value->sources + (size_t)value->destinations;
    int *ranks = calloc(count + 1, 2 * sizeof *ranks);
    if (!ranks)
        abort();
    int *from = ranks, *to = ranks + value->sources, *weights = ranks + count;
    if (topology == MPI_CART) {
        for (int dimension = 0; dimension < dimensions; dimension++)
            PMPI_Cart_shift(handle, dimension, 1, from + 2 * dimension, from + 2 * dimension + 1);
        to = from;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors(handle, value->rank, value->sources, from);
        to = from;
    } else {
        PMPI_Dist_graph_neighbors(handle, value->sources, from, weights, value->destinations, to,
                                  weights + value->sources);
    }
    out_t out = trace_define(DEFINE_NEIGHBOURS, FIXED_BYTES + ITEM_BYTES * count);
    out = put(out, value->number);
    out = put_ranks(out, from, value->sources);
    trace_defined(put_ranks(out, to, value->destinations));
    free(ranks);
}

static struct communicator *learn(MPI_Comm handle, uint64_t number)
{
    struct communicator value = {.number = number};
    int inter = 0;
    PMPI_Comm_rank(handle, &value.rank);
    PMPI_Comm_size(handle, &value.size);
    PMPI_Comm_test_inter(handle, &inter);
    if (inter)
        PMPI_Comm_remote_size(handle, &value.remote);
    define_members(handle, &value);
    if (!inter)
        define_neighbours(handle, &value);
    uint32_t index = add_communicator(value);
    map_set(&communicators, KEY(handle), index);
    return communicator_list[index - 1];
}

struct communicator *communicator_of(MPI_Comm handle)
{
    uint32_t index = map_get(&communicators, KEY(handle));
    if (likely(index != 0))
        return communicator_list[index - 1];
    return learn(handle, next_number());
}

static uint64_t mix(uint64_t state, uint64_t word)
{
    state = state * 0x9e3779b97f4a7c15u + word + 1;
    state = (state ^ state >> 31) * 0xbf58476d1ce4e5b9u;
    return state ^ state >> 29;
}

/* Numbers that several ranks find by themselves: 40 bits, above all that a rank chooses. */
static uint64_t common_number(uint64_t mixed)
{
    return (UINT64_C(1) << 40) | mixed >> 24;
}

static uint64_t mix_group(MPI_Group *group, int *first)
{
    int count;
    const int *ranks = world_ranks(*group, &count);
    uint64_t mixed = (uint64_t)count;
    for (int index = 0; index < count; index++)
        mixed = mix(mixed, (uint64_t)ranks[index]);
    *first = count > 0 ? ranks[0] : -1;
    PMPI_Group_free(group);
    return mixed;
}

static uint64_t mix_members(MPI_Comm handle)
{
    int inter = 0, first, other;
    MPI_Group group;
    PMPI_Comm_group(handle, &group);
    uint64_t local = mix_group(&group, &first);
    PMPI_Comm_test_inter(handle, &inter);
    if (!inter)
        return local;
    PMPI_Comm_remote_group(handle, &group);
    uint64_t remote = mix_group(&group, &other);
    return first < other ? mix(local, remote) : mix(remote, local);
}

/* All members find the same number: it comes from the communicator of which they make this one,
 * from who is in it, and from how often that was so. No message is needed, which might change the
 * run. */
void communicator_made(MPI_Comm parent, MPI_Comm handle)
{
    static struct map made;
    if (handle == MPI_COMM_NULL)
        return;
    lock();
    uint64_t key = mix(mix_members(handle), communicator_of(parent)->number);
    uint32_t times = map_get(&made, key) + 1;
    map_set(&made, key, times);
    learn(handle, common_number(mix(key, times)));
    unlock();
}

void communicator_freed(MPI_Comm handle)
{
    lock();
    map_remove(&communicators, KEY(handle));
    unlock();
}

uint64_t communicator_duplicated(MPI_Comm parent)
{
    struct communicator *original = communicator_of(parent);
    struct communicator value = *original;
    /* No rank may wait for another here, either. */
    value.number = common_number(mix(original->number, ++original->duplicates));
    value.duplicates = 0;
    define_members(parent, &value);
    if (!value.remote)
        define_neighbours(parent, &value);
    add_communicator(value);
    return value.number;
}

uint32_t communicator_latest(void)
{
    return communicator_count;
}

void communicator_named(uint32_t index, MPI_Comm handle)
{
    map_set(&communicators, KEY(handle), index);
}

/* ---- Datatypes ---- */

struct type {
    uint64_t number, size;
    int64_t extent;
};
static struct map types;
static struct type *type_list;
/* The last that is free; its size is the one before it. */
static uint32_t type_count, type_room, type_free;

static const struct type *add_type(MPI_Datatype handle, uint64_t number)
{
    MPI_Count size = 0, low = 0, extent = 0;
    /* MPI takes no datatype where a count is zero or an argument is ignored, and the library aborts
     * when asked for its size. */
    if (handle != MPI_DATATYPE_NULL) {
        PMPI_Type_size_x(handle, &size);
        PMPI_Type_get_extent_x(handle, &low, &extent);
    }
    uint32_t index = type_free;
    if (index) {
        type_free = (uint32_t)type_list[index - 1].size;
    } else {
        type_list = grown(type_list, sizeof *type_list, type_count, &type_room);
        index = ++type_count;
    }
    type_list[index - 1] = (struct type){number, (uint64_t)size, extent};
    map_set(&types, KEY(handle), index);
    return &type_list[index - 1];
}

static const struct type *type_of(MPI_Datatype handle)
{
    uint32_t index = map_get(&types, KEY(handle));
    return likely(index != 0) ? &type_list[index - 1] : add_type(handle, 0);
}

out_t put_type(out_t out, MPI_Datatype handle, bool matters)
{
    static const struct type none;
    const struct type *type = matters ? type_of(handle) : &none;
    return put_signed(put(put(out, type->number), type->size), type->extent);
}

out_t put_types(out_t out, const MPI_Datatype *handles, const int *counts, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put_type(out, handles[index], counts[index] != 0);
    return out;
}

out_t put_types_of(out_t out, const MPI_Datatype *handles, const MPI_Count *counts, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put_type(out, handles[index], counts[index] != 0);
    return out;
}

void type_freed(MPI_Datatype handle)
{
    lock();
    uint32_t index = map_get(&types, KEY(handle));
    if (index) {
        map_remove(&types, KEY(handle));
        type_list[index - 1].size = type_free;
        type_free = index;
    }
    unlock();
}

/* ---- Operations ---- */

static struct map operations;

out_t put_operation(out_t out, MPI_Op handle, bool matters)
{
    if (!matters)
        return put(out, 0);
    uint32_t number = map_get(&operations, KEY(handle));
    if (number == 0) {
        int commutative = 1;
        PMPI_Op_commutative(handle, &commutative);
        number = commutative ? 32 : 33;
        map_set(&operations, KEY(handle), number);
    }
    return put(out, number);
}

void operation_freed(MPI_Op handle)
{
    lock();
    map_remove(&operations, KEY(handle));
    unlock();
}

/* ---- Windows ---- */

static struct map windows;
static uint32_t window_count;

uint64_t window_of(MPI_Win handle)
{
    uint32_t number = map_get(&windows, KEY(handle));
    if (number == 0) {
        number = ++window_count;
        map_set(&windows, KEY(handle), number);
    }
    return number;
}

void window_freed(MPI_Win handle)
{
    lock();
    map_remove(&windows, KEY(handle));
    unlock();
}

/* ---- Files ---- */

static struct map files;
__thread uint64_t meeting;

void file_opens(MPI_Comm comm)
{
    lock();
    meeting = communicator_of(comm)->number + 1;
    unlock();
}

void file_opened(MPI_Comm comm, MPI_File file)
{
    lock();
    map_set(&files, KEY(file), map_get(&communicators, KEY(comm)));
    unlock();
}

void file_enters(MPI_File file)
{
    lock();
    uint32_t index = map_get(&files, KEY(file));
    meeting = index ? communicator_list[index - 1]->number + 1 : 0;
    unlock();
}

void file_closes(MPI_File file)
{
    file_enters(file);
    lock();
    map_remove(&files, KEY(file));
    unlock();
}

/* ---- What is there from the start ---- */

void handles_start(void)
{
    world = MPI_COMM_WORLD;
    PMPI_Comm_group(world, &world_group);
    PMPI_Comm_rank(world, &world_rank);
    PMPI_Comm_size(world, &world_size);
    struct communicator all = {.number = 0, .rank = world_rank, .size = world_size};
    struct communicator self = {.number = 1, .size = 1};
    struct communicator none = {.number = 2};
    map_set(&communicators, KEY(world), add_communicator(all));
    map_set(&communicators, KEY(MPI_COMM_SELF), add_communicator(self));
    map_set(&communicators, KEY(MPI_COMM_NULL), add_communicator(none));
    /* Numbers as liballprof counts them. */
    const MPI_Datatype known[] = {
        MPI_DATATYPE_NULL, MPI_INT, MPI_INTEGER, MPI_LONG, MPI_SHORT, MPI_UNSIGNED,
        MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_FLOAT, MPI_REAL, MPI_DOUBLE,
        MPI_DOUBLE_PRECISION, MPI_LONG_DOUBLE, MPI_BYTE, MPI_FLOAT_INT, MPI_DOUBLE_INT,
        MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_LOGICAL, MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX, MPI_CHARACTER,
    };
    const uint64_t number_of_character = 21;
    for (size_t index = 1; index < sizeof known / sizeof *known; index++)
        if (known[index] && known[index] != MPI_DATATYPE_NULL)
            add_type(known[index], index == 23 ? number_of_character : index);
    const MPI_Op reductions[] = {
        MPI_OP_NULL, MPI_MIN, MPI_MAX, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
        MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP,
    };
    for (uint32_t index = 1; index < sizeof reductions / sizeof *reductions; index++)
        map_set(&operations, KEY(reductions[index]), index);
}
