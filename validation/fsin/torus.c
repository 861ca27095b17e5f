/* The rules of the simulator FSIN on a k x k torus under uniform traffic, phit by phit, and nothing
 * else: it tells which of them makes in-transit priority (ipr) and the local buffer restriction
 * (lbr) gain. It shares no code with the model `packet`, and was written after the list of rules,
 * without FSIN's source. Options turn rules off; docs/src/routers.md has its figures.
 *
 *   cc -O2 -o torus torus.c && ./torus k=8 ipr=1 ninj=4 seed=2
 *
 * Rules: packets of 16 phits; a link moves a phit a cycle; queues of 4 packets a channel, one
 * escape channel in dimension order with the bubble and two for any shortest way; ninj injectors a
 * node with queues of 8 packets, of which a packet takes the shortest; all packets at their
 * destination may be consumed at once. A packet at the head of a queue asks for one output channel
 * a cycle (oneask): adaptive ones, then the escape. A link stays with a packet until its tail
 * (sticky). The bubble looks at the local queue (localbub). A node consumes at most eject phits a
 * cycle. Prints accepted phits a node and cycle.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P = 16, WAYS = 4, CH = 3, OUTS = WAYS * CH, INJECTORS = 8, QUEUES = OUTS + INJECTORS };
enum { RING = 16, NONE = -1, CONSUMED = OUTS };

typedef struct { int to, in, out; } Packet;
/* A queue: packets, phits in it and promised to it, the output that its first packet has. */
typedef struct { Packet packets[RING]; int head, count, phits, promised, room, output, bet; } Queue;

static struct { const char *name; double value; } options[] = {
    {"k", 8},   {"load", 1}, {"ninj", 4},   {"ipr", 0},         {"lbr", 0},  {"sticky", 1},
    {"oneask", 1}, {"localbub", 1}, {"cycles", 30000}, {"warm", 10000}, {"seed", 1},
    {"eject", OUTS},
};
enum { K, LOAD, NINJ, IPR, LBR, STICKY, ONEASK, LOCALBUB, CYCLES, WARM, SEED, EJECT, COUNT };

static int k, injectors;
static Queue (*queues)[QUEUES];
static int (*owner)[OUTS], (*current)[WAYS], (*served)[OUTS];
static uint64_t state = 88172645463325252u;

static double drawn(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 11) * (1.0 / 9007199254740992.0);
}

static Packet *first(Queue *queue) { return &queue->packets[queue->head]; }
static int vacant(const Queue *queue) { return queue->room - queue->phits - queue->promised; }

static void leave(Queue *queue) {
    queue->output = NONE, queue->bet = 0, queue->count--;
    queue->head = (queue->head + 1) % RING;
}

static void enter(Queue *queue, Packet packet) {
    queue->packets[(queue->head + queue->count++) % RING] = packet;
}

static int neighbour(int node, int way) {
    int place[] = {node % k, node / k};
    place[way / 2] = (place[way / 2] + (way % 2 ? k - 1 : 1)) % k;
    return place[1] * k + place[0];
}

/* The way on a shortest way in a dimension; NONE if there is nothing to go. */
static int toward(int node, int to, int dimension) {
    int here = dimension ? node / k : node % k, there = dimension ? to / k : to % k;
    int ahead = (there - here + k) % k;
    if (ahead == 0) return NONE;
    return 2 * dimension + (2 * ahead == k ? drawn() < 0.5 : 2 * ahead > k);
}

static int may_take(int node, int from, int out) {
    Queue *next = &queues[neighbour(node, out / CH)][out], *local = &queues[node][out];
    if (owner[node][out] != NONE || vacant(next) < P) return 0;
    if (out % CH == 0)
        return from == out || vacant(options[LOCALBUB].value ? local : next) >= 2 * P;
    return from < OUTS || vacant(local) >= options[LBR].value * P;
}

/* The output for which the first packet of a queue asks in this cycle. */
static int asks_for(int node, int from) {
    Queue *queue = &queues[node][from];
    int to = first(queue)->to, wanted[3], count = 0;
    int dimension = from < OUTS ? from / CH / 2 : (int)(drawn() * 2), second = from % CH == 2;
    for (int i = 0; i < 2; i++) {
        int way = toward(node, to, (dimension + i) % 2);
        if (way == NONE) continue;
        int out = way * CH + 1 + second, other = way * CH + 2 - second;
        wanted[count++] = !may_take(node, from, out) && may_take(node, from, other) ? other : out;
    }
    int way = toward(node, to, 0);
    wanted[count++] = CH * (way == NONE ? toward(node, to, 1) : way);
    if (options[ONEASK].value) {
        int out = wanted[queue->bet++ % count];
        return may_take(node, from, out) ? out : NONE;
    }
    for (int i = 0; i < count; i++)
        if (may_take(node, from, wanted[i])) return wanted[i];
    return NONE;
}

static void generate(int node) {
    if (drawn() >= options[LOAD].value / P) return;
    int start = (int)(drawn() * injectors), best = NONE, to;
    for (int i = 0; i < injectors; i++) {
        int queue = OUTS + (start + i) % injectors;
        if (best == NONE || queues[node][queue].phits < queues[node][best].phits) best = queue;
    }
    Queue *queue = &queues[node][best];
    if (vacant(queue) < P) return;
    do to = (int)(drawn() * k * k); while (to == node);
    enter(queue, (Packet){to, P, 0});
    queue->phits += P;
}

static void allocate(int node) {
    int asks[QUEUES];
    for (int from = 0; from < OUTS + injectors; from++) {
        Queue *queue = &queues[node][from];
        asks[from] = NONE;
        if (queue->count == 0 || queue->output != NONE || first(queue)->in == 0) continue;
        if (first(queue)->to == node)
            queue->output = CONSUMED;
        else
            asks[from] = asks_for(node, from);
    }
    for (int out = 0; out < OUTS; out++) {
        int transit = 0, best = NONE, least = 2 * QUEUES;
        for (int from = 0; from < OUTS; from++) transit |= asks[from] == out;
        int last = transit && drawn() < options[IPR].value ? OUTS : OUTS + injectors;
        for (int from = 0; from < last; from++) {
            int turn = (from - served[node][out] - 1 + 2 * QUEUES) % QUEUES;
            if (asks[from] == out && turn < least) best = from, least = turn;
        }
        if (best == NONE) continue;
        served[node][out] = owner[node][out] = best;
        queues[node][best].output = out;
        queues[neighbour(node, out / CH)][out].promised += P;
    }
}

static int can_send(int node, int out) {
    if (owner[node][out] == NONE) return 0;
    Packet *packet = first(&queues[node][owner[node][out]]);
    return packet->in > packet->out;
}

static void move(int node, int way) {
    int channel = current[node][way], chosen = NONE;
    if (options[STICKY].value && channel != NONE && owner[node][way * CH + channel] != NONE)
        chosen = can_send(node, way * CH + channel) ? channel : NONE;
    else
        for (int i = CH; i >= 1; i--) {
            int next = (channel + i + CH) % CH;
            if (can_send(node, way * CH + next)) chosen = next;
        }
    if (chosen == NONE) return;
    current[node][way] = chosen;
    int out = way * CH + chosen;
    Queue *queue = &queues[node][owner[node][out]], *next = &queues[neighbour(node, way)][out];
    Packet *packet = first(queue);
    if (packet->out == 0) enter(next, (Packet){packet->to, 0, 0});
    next->packets[(next->head + next->count - 1) % RING].in++;
    next->phits++, next->promised--, packet->out++, queue->phits--;
    if (packet->out == P) leave(queue), owner[node][out] = NONE;
}

static long consume(int node, long cycle) {
    long phits = 0;
    for (int i = 0; i < OUTS && phits < options[EJECT].value; i++) {
        int from = (i + cycle) % OUTS;
        Queue *queue = &queues[node][from];
        if (queue->output != CONSUMED || first(queue)->in == first(queue)->out) continue;
        phits++, queue->phits--;
        if (++first(queue)->out == P) leave(queue);
    }
    return phits;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        int option = 0;
        while (value && option < COUNT && strncmp(options[option].name, argv[i], value - argv[i]))
            option++;
        if (!value || option == COUNT) return fprintf(stderr, "%s: expected K=V\n", argv[i]), 2;
        options[option].value = atof(value + 1);
    }
    k = options[K].value, injectors = options[NINJ].value;
    if (k < 2 || injectors < 1 || injectors > INJECTORS) return fprintf(stderr, "k, ninj\n"), 2;
    state += (uint64_t)options[SEED].value * 0x9E3779B97F4A7C15u;
    int nodes = k * k;
    queues = calloc(nodes, sizeof *queues), served = calloc(nodes, sizeof *served);
    owner = malloc(nodes * sizeof *owner), current = malloc(nodes * sizeof *current);
    memset(owner, NONE, nodes * sizeof *owner), memset(current, NONE, nodes * sizeof *current);
    for (int i = 0; i < nodes * QUEUES; i++) {
        queues[i / QUEUES][i % QUEUES].room = (i % QUEUES < OUTS ? 4 : 8) * P;
        queues[i / QUEUES][i % QUEUES].output = NONE;
    }
    long cycles = options[CYCLES].value, warm = options[WARM].value, accepted = 0;
    for (long cycle = 0; cycle < cycles + warm; cycle++) {
        for (int node = 0; node < nodes; node++) generate(node), allocate(node);
        for (int node = 0; node < nodes; node++) {
            long phits = consume(node, cycle);
            accepted += cycle < warm ? 0 : phits;
            for (int way = 0; way < WAYS; way++) move(node, way);
        }
    }
    printf("%.4f\n", (double)accepted / nodes / cycles);
    return 0;
}
