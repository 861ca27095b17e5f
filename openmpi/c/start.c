/* The start: one pair of processes measures the rails, or rank 0 reads what is known of them; all
 * others wait, and get the parameters along a tree. */

#include "heddle_bml.h"

#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/mca/rte/rte.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/proc.h"

/* All rails together are measured for so long, in nanoseconds, and what changing them takes for so
 * long; who waits gives up after a minute. */
#define BUDGET 700e6
#define BUDGET_OF_CHANGES 100e6
#define PATIENCE 60e9

/* Messages in a row: what a further one takes shows in many, but many large ones take long. */
static uint32_t many(size_t bytes)
{
    return bytes <= 1024 ? 33 : 9;
}

/* Bytes of the least message. */
#define SMALL 64

enum kind { PLAIN, LAST, ANSWER };

/* A message of a measurement, which zeros follow. */
struct trip {
    opal_process_name_t sender;
    uint32_t kind;
};

/* What a tree of processes hands down. */
struct known {
    uint32_t count;
    struct heddle_rail rails[HEDDLE_MOST_RAILS];
};

static volatile unsigned answers, has_known;
static struct known known;

static ompi_proc_t *process(uint32_t rank)
{
    opal_process_name_t name = { .jobid = OMPI_PROC_MY_NAME->jobid, .vpid = rank };
    return (ompi_proc_t *)ompi_proc_for_name(name);
}

/* Finds the way to a process over one module; false if there is none. */
bool heddle_way_over(ompi_proc_t *proc, const mca_btl_base_module_t *btl, struct heddle_way *way)
{
    mca_bml_base_endpoint_t *base = proc ? mca_bml_base_get_endpoint(proc) : NULL;
    for (size_t at = 0; base && at < base->btl_send.arr_size; at++)
        if (base->btl_send.bml_btls[at].btl == btl) {
            way->btl = base->btl_send.bml_btls[at].btl;
            way->endpoint = base->btl_send.bml_btls[at].btl_endpoint;
            return true;
        }
    return false;
}

static int send_trip(const struct heddle_way *way, enum kind kind, size_t bytes)
{
    struct trip trip = { .sender = *OMPI_PROC_MY_NAME, .kind = kind };
    size_t padding = bytes > sizeof trip ? bytes - sizeof trip : 0;
    return heddle_send_small(way, HEDDLE_TAG_TRIP, &trip, sizeof trip, padding);
}

static void trip_arrived(struct mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                         mca_btl_base_descriptor_t *descriptor, void *data)
{
    struct trip trip;
    struct heddle_way way;
    (void)tag, (void)data;
    if (descriptor->des_segments->seg_len < sizeof trip)
        return;
    memcpy(&trip, descriptor->des_segments->seg_addr.pval, sizeof trip);
    if (trip.kind == ANSWER)
        answers++;
    else if (trip.kind == LAST
             && heddle_way_over((ompi_proc_t *)ompi_proc_for_name(trip.sender), btl, &way))
        send_trip(&way, ANSWER, descriptor->des_segments->seg_len);
}

static void known_arrived(struct mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                          mca_btl_base_descriptor_t *descriptor, void *data)
{
    (void)btl, (void)tag, (void)data;
    if (descriptor->des_segments->seg_len < sizeof known)
        return;
    memcpy(&known, descriptor->des_segments->seg_addr.pval, sizeof known);
    has_known = 1;
}

/* Waits until a count is so high; false if it never is. */
static bool wait_for(const volatile unsigned *count, unsigned wanted, bool is_busy)
{
    double end = heddle_now() + PATIENCE;
    while (*count < wanted) {
        opal_progress();
        if (*count < wanted && !is_busy)
            usleep(200);
        if (heddle_now() > end)
            return false;
    }
    return true;
}

/* The time of one round trip in nanoseconds; negative if there is no answer. */
static double round_trip(const struct heddle_way *way, uint32_t messages, double delay,
                         size_t bytes, heddle_samples *samples)
{
    double start = heddle_now();
    answers = 0;
    for (uint32_t turn = 0; turn < messages; turn++) {
        double begin = heddle_now();
        if (send_trip(way, turn + 1 == messages ? LAST : PLAIN, bytes) != OPAL_SUCCESS)
            return -1;
        if (turn == 0 && samples)
            heddle_send(samples, bytes, heddle_now() - begin);
        if (delay > 0 && turn + 1 < messages)
            for (double end = heddle_now() + delay; heddle_now() < end;)
                ;
    }
    if (!wait_for(&answers, 1, true))
        return -1;
    return heddle_now() - start;
}

/* Times single messages, small ones more often: they take little time, and a rail's latency shows
 * in them. Returns the least time. */
static double several(const struct heddle_way *way, size_t bytes, heddle_samples *samples,
                      double end)
{
    double least = INFINITY;
    for (unsigned times = bytes <= 1024 ? 6 : 2;
         least == INFINITY || (times > 0 && heddle_now() < end); times--) {
        double alone = round_trip(way, 1, 0, bytes, samples);
        if (alone < 0)
            return alone;
        heddle_trip(samples, 1, 0, bytes, alone);
        least = fmin(least, alone);
    }
    return least;
}

/* Measures one rail to a process: round trips of several sizes, alone, in a row, and in a row with
 * a pause that is longer than what a message takes. */
static int measure(const struct heddle_way *way, unsigned rail, struct heddle_reason reason)
{
    size_t sizes[] = { SMALL, 1024, 8 * 1024, 32 * 1024 };
    size_t count = sizeof sizes / sizeof *sizes;
    double end = heddle_now() + BUDGET / heddle.count;
    heddle_samples *samples = heddle_samples_new();
    double pauses[4] = { 0 };

    /* The first messages connect; slow rails are spared the longest ones. */
    for (int turn = 0; turn < 3; turn++)
        if (round_trip(way, 1, 0, sizes[0], NULL) < 0)
            goto silent;
    while (count > 2 && round_trip(way, 1, 0, sizes[count - 1], NULL) > 8e6)
        count--;
    for (int turn = 0; turn < 3 || (turn < 16 && heddle_now() < end); turn++)
        for (size_t at = 0; at < count; at++) {
            double alone = several(way, sizes[at], samples, end);
            double row = round_trip(way, many(sizes[at]), 0, sizes[at], samples);
            double paused;
            if (turn == 0)
                pauses[at] = 20e3 + 2 * (row > alone ? row - alone : 0) / (many(sizes[at]) - 1);
            paused = round_trip(way, many(sizes[at]), pauses[at], sizes[at], samples);
            if (alone < 0 || row < 0 || paused < 0)
                goto silent;
            heddle_trip(samples, many(sizes[at]), 0, sizes[at], row);
            heddle_trip(samples, many(sizes[at]), pauses[at], sizes[at], paused);
        }
    return heddle_fit(samples, heddle.modules[rail].name, &known.rails[rail], reason);

silent:
    heddle_samples_free(samples);
    snprintf(reason.text, reason.length, "no answer comes over it");
    return -1;
}

/* The time of a row of small messages that take two rails in turn, in nanoseconds; negative if
 * there is no answer over either. */
static double in_turn(const struct heddle_way ways[2], unsigned messages)
{
    double start = heddle_now();
    answers = 0;
    for (unsigned turn = 0; turn < messages; turn++)
        if (send_trip(&ways[turn % 2], turn + 2 < messages ? PLAIN : LAST, SMALL) != OPAL_SUCCESS)
            return -1;
    return wait_for(&answers, 2, true) ? heddle_now() - start : -1;
}

/* What changing rails takes of the processors: a further small message in a row that takes two
 * rails in turn, so that no transport gathers it with the one before it. Of several times the least
 * is kept: what disturbs them makes them longer. The two fastest rails are taken, which themselves
 * are busy for the least time. */
static void measure_changes(ompi_proc_t *partner)
{
    enum { LEAST_TIMES = 3, TIMES = 32, MESSAGES = 34 };
    double end = heddle_now() + BUDGET_OF_CHANGES;
    double pair = INFINITY, row = INFINITY;
    struct heddle_way ways[2];
    unsigned fastest[2] = { 0, 1 };
    if (heddle.count < 2)
        return;
    for (unsigned rail = 1; rail < heddle.count; rail++)
        if (known.rails[rail].gap_per_byte < known.rails[fastest[0]].gap_per_byte) {
            fastest[1] = fastest[0];
            fastest[0] = rail;
        } else if (rail > 1
                   && known.rails[rail].gap_per_byte < known.rails[fastest[1]].gap_per_byte) {
            fastest[1] = rail;
        }
    for (unsigned side = 0; side < 2; side++)
        if (!heddle_way_over(partner, heddle.modules[fastest[side]].btl, &ways[side]))
            return;
    for (unsigned time = 0; time < LEAST_TIMES || (time < TIMES && heddle_now() < end); time++) {
        pair = fmin(pair, in_turn(ways, 2));
        row = fmin(row, in_turn(ways, MESSAGES));
    }
    /* No answer is a time below zero. */
    for (unsigned rail = 0; pair >= 0 && row > pair && rail < heddle.count; rail++)
        known.rails[rail].change = (uint64_t)((row - pair) / (MESSAGES - 2) * 1024);
}

/* Adds the parameters of Open MPI that say which interfaces are modules. */
static size_t add_choices(char *key, size_t room)
{
    static const char *const names[][2] = { { "tcp", "if_include" },    { "tcp", "if_exclude" },
                                            { "openib", "if_include" }, { "openib", "if_exclude" },
                                            { "ofi", "provider_include" } };
    size_t used = 0;
    for (size_t at = 0; at < sizeof names / sizeof *names && used < room; at++) {
        const char *value = heddle_choice(names[at][0], names[at][1]);
        if (value)
            used += (size_t)snprintf(key + used, room - used, " %s %s=%s", names[at][0],
                                     names[at][1], value);
    }
    return used < room ? used : room - 1;
}

/* What must be the same for measured values to hold: Open MPI, its modules, and the addresses and
 * packet sizes of this host. */
static void key_of(char *key, size_t room)
{
    struct ifaddrs *interfaces = NULL;
    int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
    size_t used = (size_t)snprintf(key, room, "Open MPI %d.%d.%d", OMPI_MAJOR_VERSION,
                                   OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
    for (unsigned rail = 0; rail < heddle.count && used < room; rail++)
        used += (size_t)snprintf(key + used, room - used, " %s %u %u", heddle.modules[rail].name,
                                 heddle.modules[rail].btl->btl_latency,
                                 heddle.modules[rail].btl->btl_bandwidth);
    if (used < room)
        used += add_choices(key + used, room - used);
    getifaddrs(&interfaces);
    for (struct ifaddrs *it = interfaces; it && used < room; it = it->ifa_next) {
        char address[NI_MAXHOST];
        struct ifreq request = { .ifr_mtu = 0 };
        sa_family_t family = it->ifa_addr ? it->ifa_addr->sa_family : AF_UNSPEC;
        socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in)
                                             : sizeof(struct sockaddr_in6);
        if ((family != AF_INET && family != AF_INET6) || (it->ifa_flags & IFF_LOOPBACK)
            || getnameinfo(it->ifa_addr, length, address, sizeof address, NULL, 0, NI_NUMERICHOST))
            continue;
        snprintf(request.ifr_name, sizeof request.ifr_name, "%s", it->ifa_name);
        ioctl(socket_, SIOCGIFMTU, &request);
        used += (size_t)snprintf(key + used, room - used, " %s %d", address, request.ifr_mtu);
    }
    freeifaddrs(interfaces);
    close(socket_);
}

/* Takes the parameters of the rails from the user's file. */
static int read_file(struct heddle_reason reason)
{
    int found = heddle_read(heddle.parameters, known.rails, reason);
    if (found < 0)
        return heddle_fatal("heddle_bml_parameters: %s", reason.text);
    if ((unsigned)found != heddle.count) {
        char names[HEDDLE_MOST_RAILS * 34] = "";
        for (unsigned rail = 0; rail < heddle.count; rail++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     rail ? ", " : "", heddle.modules[rail].name);
        return heddle_fatal("heddle_bml_parameters: %s has %d of the tables [rail.NAME], and Open "
                            "MPI has %u modules here: %s", heddle.parameters, found, heddle.count,
                            names);
    }
    return OMPI_SUCCESS;
}

/* Measures all rails to a process, and keeps what it finds. */
static int measure_all(uint32_t partner, const char *folder, const char *key,
                       struct heddle_reason reason)
{
    for (unsigned rail = 0; rail < heddle.count; rail++) {
        struct heddle_way way;
        if (!heddle_way_over(process(partner), heddle.modules[rail].btl, &way)) {
            snprintf(reason.text, reason.length, "it does not lead to rank %u", partner);
        } else if (measure(&way, rail, reason) == 0) {
            continue;
        }
        heddle_warn("rail %s cannot be measured: %s; messages take the rails as without this "
                    "component", heddle.modules[rail].name, reason.text);
        known.count = 0;
        return OMPI_SUCCESS;
    }
    measure_changes(process(partner));
    if (key && heddle_cache_write(folder, key, known.rails, known.count, reason) < 0)
        heddle_warn("%s", reason.text);
    return OMPI_SUCCESS;
}

/* Rank 0 finds out what all must know. */
static int find_out(uint32_t partner)
{
    char text[512], key[4096];
    struct heddle_reason reason = { text, sizeof text };
    const char *folder = heddle.cache && *heddle.cache ? heddle.cache : NULL;
    bool keeps = !folder || strcmp(folder, "none") != 0;

    known.count = heddle.count;
    if (heddle.count == 0 || (heddle.count == 1 && !heddle.always)) {
        known.count = 0;
        return OMPI_SUCCESS;
    }
    if (heddle.parameters && *heddle.parameters)
        return read_file(reason);
    key_of(key, sizeof key);
    if (keeps && heddle.cache_hours > 0) {
        int found = heddle_cache_read(folder, key, (uint64_t)heddle.cache_hours * 3600,
                                      known.rails, reason);
        if (found == (int)heddle.count)
            return OMPI_SUCCESS;
        if (found < 0)
            heddle_warn("%s; the rails are measured anew", reason.text);
    }
    if (partner == 0) {
        known.count = 0;
        return OMPI_SUCCESS;
    }
    return measure_all(partner, folder, keeps ? key : NULL, reason);
}

/* The partner of rank 0: the first rank on another host, or else rank 1; 0 if it is alone. */
static uint32_t elect(void)
{
    const char *first = opal_get_proc_hostname(&process(0)->super);
    for (uint32_t rank = 1; first && rank < ompi_process_info.num_procs; rank++) {
        const char *host = opal_get_proc_hostname(&process(rank)->super);
        if (host && strcmp(host, first) != 0)
            return rank;
    }
    return ompi_process_info.num_procs > 1 ? 1 : 0;
}

/* Makes the scheduler of this process. */
static int make_host(void)
{
    char text[512], segment[128], host[64] = "";
    struct heddle_reason reason = { text, sizeof text };
    struct stat network = { .st_ino = 0 };
    unsigned long hash = 5381;

    if (known.count != heddle.count) {
        if (known.count > 0)
            heddle_warn("this rank has %u rails, and rank 0 has %u: its messages take them as "
                        "without this component", heddle.count, known.count);
        return OMPI_SUCCESS;
    }
    if (heddle.count == 0)
        return OMPI_SUCCESS;
    memcpy(heddle.rails, known.rails, sizeof heddle.rails);
    /* Hosts that share their memory's names, as containers may, differ in name or network. */
    gethostname(host, sizeof host - 1);
    stat("/proc/self/ns/net", &network);
    for (const char *at = host; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    snprintf(segment, sizeof segment, "/heddle-rails-%u-%u-%lx-%lx", (unsigned)geteuid(),
             OMPI_PROC_MY_NAME->jobid, hash, (unsigned long)network.st_ino);
    heddle.host = heddle_host_new(heddle.rails, heddle.count, heddle.policy,
                                  heddle.shared ? segment : NULL,
                                  (uint32_t)ompi_process_info.num_local_peers + 1, reason);
    if (heddle.host)
        heddle.incoming = heddle_host_new(heddle.rails, heddle.count, heddle.policy, NULL, 1,
                                          reason);
    if (!heddle.incoming)
        return heddle_fatal("%s", text);
    heddle_describe();
    heddle_watch_large();
    for (unsigned rail = 0; rail < heddle.count; rail++) {
        const struct heddle_rail *it = &heddle.rails[rail];
        snprintf(heddle.modules[rail].name, sizeof heddle.modules[rail].name, "%s", it->name);
        heddle.spacings[rail] = heddle_spacing(heddle.host, (uint8_t)rail, heddle.limit);
        heddle.limits[rail] = heddle_limit(heddle.host, (uint8_t)rail, heddle.limit);
        heddle.round_trips[rail] =
            2 * (double)(it->send_overhead + it->receive_overhead + it->latency) / 1024;
    }
    return OMPI_SUCCESS;
}

int heddle_start(void)
{
    uint32_t me = OMPI_PROC_MY_NAME->vpid, ranks = ompi_process_info.num_procs;
    uint32_t partner = elect();
    int code = OMPI_SUCCESS;

    if (mca_bml.bml_register(HEDDLE_TAG_TRIP, trip_arrived, NULL) != OMPI_SUCCESS
        || mca_bml.bml_register(HEDDLE_TAG_RAILS, known_arrived, NULL) != OMPI_SUCCESS
        || heddle_confirm_register() != OMPI_SUCCESS)
        return OMPI_ERROR;
    if (me == 0)
        code = find_out(partner);
    else if (!wait_for(&has_known, 1, me == partner))
        return heddle_fatal("rank 0 does not say what it knows of the rails");
    for (uint32_t child = 2 * me + 1; child <= 2 * me + 2 && child < ranks; child++) {
        struct heddle_way way = heddle_best_way(process(child));
        if (!way.btl || heddle_send_small(&way, HEDDLE_TAG_RAILS, &known, sizeof known, 0))
            return heddle_fatal("no module leads to rank %u", child);
    }
    if (code == OMPI_SUCCESS)
        code = make_host();
    /* Those that it has spoken to have modules, but no proxy yet. */
    for (uint32_t other = 0; other < ranks && code == OMPI_SUCCESS; other++)
        if (other == partner || other == 0 || (other > 2 * me && other <= 2 * me + 2))
            code = heddle_attach(process(other));
    return code;
}
