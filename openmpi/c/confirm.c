/* How fast rails really are: every so many bytes a mark goes over the rail, and the receiver sends
 * it back over the same rail. As messages keep their order on a rail, all before the mark have
 * arrived then.
 *
 * A mark that is late shows nothing yet: the receiver may be computing. So witnesses follow over
 * another rail, one after the other. When the second is confirmed before the mark, both processes
 * have looked at all rails since the first was, and the mark had not arrived when that left: the
 * rail is slower by the time that had passed until then over the time that was expected. */

#include "heddle_bml.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

/* The most marks of a way that are not confirmed. */
#define MOST_MARKS 64

/* A mark is late when it takes so many times as long as expected, and a witness leaves; after a
 * testimony, the next one when so many times as long has passed again. */
#define LATE_BY 2
#define AGAIN_AFTER 1.5

/* A process may be kept from its processor for so long, in nanoseconds, beside what is expected. */
#define PATIENCE 1e6

/* A rail that was found slower carries fewer messages, or none. So often, in nanoseconds, a mark
 * with so many bytes looks whether it still is; so many times in a row, as processes may be late,
 * too, unless it takes half as long as the rail as it was found, or longer. */
#define PROBE_EVERY 250e6
#define PROBE_BYTES (32 * 1024)
#define PROBES 5

/* All rails are looked at so often. After so long without a confirmation over one rail the others
 * are asked; after so long it has failed, if others carry. Times in nanoseconds. */
#define WATCH_EVERY 1e9
#define LATE 4e9
#define FAILED 20e9

/* A mark, and its confirmation. `endpoint` is a number of the sender's. */
struct mark {
    opal_process_name_t sender;
    uint32_t endpoint;
    uint8_t rail, is_confirmation, kind;
    uint8_t about;   /* the rail that a witness is about */
    uint64_t sent;   /* bytes of the way */
    double time;     /* of the mark, in nanoseconds */
    double expected; /* how long it should take until it is confirmed */
};

enum kind { PLAIN, WITNESS, PROBE };

/* The mark of each rail that witnesses are sent for, if it is late. */
static struct watched {
    struct heddle_endpoint *endpoint; /* NULL: no mark is under way */
    uint64_t sent, rate; /* bytes of the way, and what each should take */
    double time, expected;
    double next;     /* when a witness leaves */
    double witness;  /* when the last one has left */
    double before;   /* when the one before it had, which was confirmed; 0 if there was none */
    bool is_open;    /* the last one is not confirmed */
    bool has_shown;  /* two were, one after the other */
} watched[HEDDLE_MOST_RAILS];

/* The rails to a process, without those that are behind: what is not confirmed is much more than
 * they have still to take by the scheduler's times. Confirmations are seen only when messages are
 * received, so that what was sent since does not count. */
uint8_t heddle_within_limits(struct heddle_endpoint *endpoint)
{
    uint8_t within = endpoint->usable;
    for (unsigned rail = 0; heddle.limit > 0 && rail < heddle.count; rail++) {
        const struct heddle_way *way = &endpoint->ways[rail];
        uint64_t sent = way->epoch == heddle.epoch ? way->before : way->sent;
        uint64_t open = sent > way->confirmed ? sent - way->confirmed : 0;
        if (open <= heddle.limits[rail]
            || open - heddle.limits[rail] <= heddle_backlog(heddle.host, (uint8_t)rail))
            continue;
        within &= (uint8_t)~(1u << rail);
        heddle.modules[rail].passed++;
    }
    /* Where all are behind, the policy decides among all. */
    return within ? within : endpoint->usable;
}

/* The most that a mark may take over a rail by its parameters, in nanoseconds, if none of so many
 * bytes before it has arrived. */
static double expected_by_bytes(unsigned rail, uint64_t bytes)
{
    return heddle.round_trips[rail]
           + (double)bytes * (double)heddle.rails[rail].gap_per_byte / (1 << 20);
}

/* The same over the rail as it was found to be. */
static double expected_at_present(unsigned rail, double expected)
{
    double times = (double)heddle_rate(heddle.host, (uint8_t)rail)
                   / (double)(heddle.rails[rail].gap_per_byte + 1);
    return heddle.round_trips[rail] + (expected - heddle.round_trips[rail]) * times;
}

static void send_mark(struct heddle_endpoint *endpoint, unsigned rail, enum kind kind,
                      unsigned about)
{
    struct heddle_way *way = &endpoint->ways[rail];
    size_t padding = kind == PROBE ? PROBE_BYTES : 0;
    struct mark mark = {
        .sender = *OMPI_PROC_MY_NAME,
        .endpoint = endpoint->number,
        .rail = (uint8_t)rail,
        .kind = (uint8_t)kind,
        .about = (uint8_t)about,
        .sent = way->sent + padding,
        .time = heddle_now(),
        .expected = kind == PROBE ? expected_by_bytes(rail, way->sent + padding - way->confirmed)
                                  : heddle.round_trips[rail]
                                        + heddle_ahead(heddle.host, (uint8_t)rail),
    };
    if (heddle_send_small(way, HEDDLE_TAG_MARK, &mark, sizeof mark, padding) != OPAL_SUCCESS)
        return;
    way->sent = way->marked = mark.sent;
    if (kind == PROBE) {
        way->is_probed = true;
        way->probed = mark.time;
    }
    if (way->marks++ == 0)
        way->since = mark.time;
    way->is_active = false;
    if (kind != PROBE && !watched[rail].endpoint)
        watched[rail] = (struct watched){
            .endpoint = endpoint,
            .sent = mark.sent,
            .time = mark.time,
            .expected = mark.expected,
            .rate = heddle_rate(heddle.host, (uint8_t)rail),
            .next = mark.time + LATE_BY * (mark.expected + PATIENCE),
        };
}

/* Looks whether a rail is as fast as it should be, and so many times again if it is not. */
static void probe(struct heddle_endpoint *endpoint, unsigned rail, unsigned again)
{
    endpoint->ways[rail].probes = again;
    if (!endpoint->ways[rail].is_probed)
        send_mark(endpoint, rail, PROBE, 0);
}

/* Counts a message, and looks after the rails. */
void heddle_sent(struct heddle_endpoint *endpoint, unsigned rail, size_t bytes)
{
    struct heddle_way *way = &endpoint->ways[rail];
    if (way->epoch != heddle.epoch) {
        way->epoch = heddle.epoch;
        way->before = way->sent;
    }
    way->sent += bytes;
    way->is_active = true;
    if (heddle.limit == 0)
        return;
    if (way->sent - way->marked >= heddle.spacings[rail] && way->marks < MOST_MARKS)
        send_mark(endpoint, rail, PLAIN, 0);
    for (unsigned other = 0; other < heddle.count; other++) {
        const struct heddle_way *it = &endpoint->ways[other];
        if (heddle_is_slower(heddle.host, (uint8_t)other) && it->btl && !it->is_probed
            && heddle_now() - it->probed > PROBE_EVERY)
            probe(endpoint, other, PROBES - 1);
    }
}

/* Sends witnesses for marks that are late, over the rail of the least latency beside theirs. */
static int witness(void)
{
    double now = 0;
    for (unsigned rail = 0; rail < heddle.count && !heddle.ends; rail++) {
        struct watched *it = &watched[rail];
        unsigned over = rail;
        if (!it->endpoint || it->is_open)
            continue;
        now = now > 0 ? now : heddle_now();
        if (now < it->next)
            continue;
        for (unsigned other = 0; other < heddle.count; other++)
            if (other != rail && it->endpoint->ways[other].btl
                && !heddle_is_slower(heddle.host, (uint8_t)other)
                && (over == rail || heddle.rails[other].latency < heddle.rails[over].latency))
                over = other;
        if (over == rail) {
            it->next = it->time + AGAIN_AFTER * (now - it->time);
            continue;
        }
        it->is_open = true;
        it->witness = now;
        send_mark(it->endpoint, over, WITNESS, rail);
    }
    return 0;
}

/* A witness was confirmed before the mark that it is about. */
static void testify(struct heddle_endpoint *endpoint, const struct mark *mark)
{
    struct watched *it = &watched[mark->about % HEDDLE_MOST_RAILS];
    if (it->endpoint != endpoint || mark->time < it->witness)
        return;
    it->is_open = false;
    if (it->before > 0) {
        heddle_slower(heddle.host, mark->about, it->rate,
                      (it->before - it->time) / (it->expected + PATIENCE));
        it->next = it->time + AGAIN_AFTER * (heddle_now() - it->time);
        it->has_shown = true;
    }
    it->before = mark->time;
}

/* A mark was confirmed. If two witnesses were before, it is the rail that it has waited for. It may
 * have been for a moment only, in which a lost frame was sent again: so it is tried at once. */
static void arrived_at_last(unsigned rail, double now)
{
    struct watched it = watched[rail];
    watched[rail].endpoint = NULL;
    if (!it.has_shown)
        return;
    heddle_slower(heddle.host, (uint8_t)rail, it.rate, (now - it.time) / it.expected);
    if (!heddle.ends)
        probe(it.endpoint, rail, PROBES - 1);
}

/* All before a mark has arrived. */
static void confirmed(const struct mark *mark)
{
    struct heddle_endpoint *endpoint = heddle.host ? heddle_numbered(mark->endpoint) : NULL;
    struct heddle_way *way;
    double now = heddle_now();
    if (!endpoint || mark->rail >= heddle.count)
        return;
    way = &endpoint->ways[mark->rail];
    way->confirmed = mark->sent;
    way->marks -= way->marks > 0;
    way->last_time = way->since = now;
    if (watched[mark->rail].endpoint == endpoint && mark->sent >= watched[mark->rail].sent)
        arrived_at_last(mark->rail, now);
    if (mark->kind == WITNESS)
        testify(endpoint, mark);
    if (mark->kind != PROBE)
        return;
    way->is_probed = false;
    if (now - mark->time <= LATE_BY * mark->expected)
        heddle_as_fast(heddle.host, mark->rail);
    else if (way->probes > 0 && !heddle.ends
             && now - mark->time < expected_at_present(mark->rail, mark->expected) / LATE_BY)
        probe(endpoint, mark->rail, way->probes - 1);
}

static bool is_open(const struct heddle_endpoint *endpoint)
{
    for (unsigned rail = 0; endpoint && rail < heddle.count; rail++)
        if (endpoint->ways[rail].marks > 0)
            return true;
    return false;
}

/* Waits until no mark to a process is under way: it must not answer one when the connection is
 * closed. Gives up at `end`. */
void heddle_settle(const ompi_proc_t *proc, double end)
{
    while (is_open(heddle_attached(proc)) && heddle_now() < end)
        opal_progress();
}

/* Nobody waits for marks to a process that is gone. */
void heddle_forget(const struct heddle_endpoint *endpoint)
{
    for (unsigned rail = 0; rail < HEDDLE_MOST_RAILS; rail++)
        if (watched[rail].endpoint == endpoint)
            watched[rail].endpoint = NULL;
}

static void arrived(struct mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                    mca_btl_base_descriptor_t *descriptor, void *data)
{
    struct mark mark;
    struct heddle_way way;

    (void)tag, (void)data;
    if (descriptor->des_segments->seg_len < sizeof mark)
        return;
    memcpy(&mark, descriptor->des_segments->seg_addr.pval, sizeof mark);
    if (mark.is_confirmation) {
        confirmed(&mark);
        return;
    }
    mark.is_confirmation = 1;
    if (heddle_way_over((ompi_proc_t *)ompi_proc_for_name(mark.sender), btl, &way))
        heddle_send_small(&way, HEDDLE_TAG_MARK, &mark, sizeof mark, 0);
}

/* Returns whether a rail to a process has failed: nothing has arrived for long, and another rail
 * has carried a mark there and back since. A process that computes answers over no rail. */
static bool has_failed(const struct heddle_endpoint *endpoint, unsigned rail, double now)
{
    const struct heddle_way *way = &endpoint->ways[rail];
    if (way->marks == 0 || now - way->since < FAILED)
        return false;
    for (unsigned other = 0; other < heddle.count; other++)
        if (other != rail && endpoint->ways[other].last_time > way->since + FAILED / 2)
            return true;
    return false;
}

static void look_after(struct heddle_endpoint *endpoint, double now)
{
    bool is_late = false;
    for (unsigned rail = 0; rail < heddle.count; rail++) {
        const struct heddle_way *way = &endpoint->ways[rail];
        is_late |= way->marks > 0 && now - way->since > LATE;
        if (has_failed(endpoint, rail, now))
            heddle_fatal("rail %s has carried nothing for %.0f seconds while others did",
                         heddle.modules[rail].name, (now - way->since) / 1e9);
    }
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (endpoint->ways[rail].btl && endpoint->ways[rail].marks == 0
            && (is_late || endpoint->ways[rail].is_active))
            send_mark(endpoint, rail, PLAIN, 0);
}

/* What carries too little for marks of its own gets one now and then. */
static int watch(void)
{
    static double next;
    double now = heddle_now();
    if (now < next || heddle.ends)
        return 0;
    next = now + WATCH_EVERY;
    for (uint32_t at = 0; at < heddle.endpoint_count; at++) {
        struct heddle_endpoint *endpoint = heddle_numbered(at);
        if (endpoint)
            look_after(endpoint, now);
    }
    return 0;
}

static int begin_epoch(void)
{
    heddle.epoch++;
    return 0;
}

void heddle_confirm_stop(void)
{
    opal_progress_unregister(begin_epoch);
    opal_progress_unregister(watch);
    opal_progress_unregister(witness);
}

int heddle_confirm_register(void)
{
    if (heddle.limit > 0) {
        opal_progress_register(begin_epoch);
        opal_progress_register_lp(watch);
        opal_progress_register_lp(witness);
    }
    return mca_bml.bml_register(HEDDLE_TAG_MARK, arrived, NULL);
}
