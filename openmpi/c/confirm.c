/* How fast rails really are: every so many bytes a mark goes over the rail, and the receiver sends
 * it back over the same rail. As messages keep their order on a rail, all before the mark have
 * arrived then. */

#include "heddle_bml.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

/* Bytes between two marks, and the most marks of a way that are not confirmed. */
#define BETWEEN (64 * 1024)
#define MOST_MARKS 64

/* Processes of a host tell each other what they send in pieces of so many bytes. */
#define COUNTED 4096

/* A rail that was found slower carries no messages perhaps. So often, in nanoseconds, two marks
 * with so many bytes between them look whether it still is. */
#define PROBE_EVERY 250e6
#define PROBE_BYTES (16 * 1024)

/* All rails are looked at so often. After so long without a confirmation over one rail the others
 * are asked; after so long it has failed, if others carry. Times in nanoseconds. */
#define WATCH_EVERY 1e9
#define LATE 4e9
#define FAILED 20e9

/* A mark, and its confirmation. `endpoint` is a number of the sender's. */
struct mark {
    opal_process_name_t sender;
    uint32_t endpoint;
    uint8_t rail, is_confirmation;
    uint64_t sent;  /* bytes of the way */
    uint64_t total; /* bytes that the sender's host has given the rail */
    double time;    /* of the mark, in nanoseconds */
};

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

/* Tells the other processes of the host what this one has given a rail. */
static uint64_t total_of(unsigned rail, size_t more)
{
    size_t bytes = heddle.modules[rail].uncounted + more;
    heddle.modules[rail].uncounted = 0;
    return heddle_count(heddle.host, (uint8_t)rail, bytes);
}

static void send_mark(struct heddle_endpoint *endpoint, unsigned rail, size_t padding)
{
    struct heddle_way *way = &endpoint->ways[rail];
    struct mark mark = {
        .sender = *OMPI_PROC_MY_NAME,
        .endpoint = endpoint->number,
        .rail = (uint8_t)rail,
        .sent = way->sent + padding,
        .total = total_of(rail, padding),
        .time = heddle_now(),
    };
    if (heddle_send_small(way, HEDDLE_TAG_MARK, &mark, sizeof mark, padding) != OPAL_SUCCESS)
        return;
    way->sent = way->marked = mark.sent;
    if (way->marks++ == 0)
        way->since = mark.time;
    way->is_active = false;
}

static void probe(struct heddle_endpoint *endpoint, unsigned rail)
{
    const struct heddle_way *way = &endpoint->ways[rail];
    if (way->btl && way->marks == 0 && heddle_now() - way->last_time > PROBE_EVERY) {
        send_mark(endpoint, rail, 0);
        send_mark(endpoint, rail, PROBE_BYTES);
    }
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
    heddle.modules[rail].uncounted += bytes;
    if (heddle.modules[rail].uncounted >= COUNTED)
        total_of(rail, 0);
    if (way->sent - way->marked >= BETWEEN && way->marks < MOST_MARKS)
        send_mark(endpoint, rail, 0);
    for (unsigned other = 0; other < heddle.count; other++)
        if (heddle_is_slower(heddle.host, (uint8_t)other))
            probe(endpoint, other);
}

/* All before a mark has arrived. If the mark had left before the last one arrived, the rail was
 * busy between the two, and shows what a byte takes on it. */
static void confirmed(const struct mark *mark)
{
    struct heddle_endpoint *endpoint = heddle.host ? heddle_numbered(mark->endpoint) : NULL;
    struct heddle_way *way;
    double now = heddle_now();
    if (!endpoint || mark->rail >= heddle.count)
        return;
    way = &endpoint->ways[mark->rail];
    if (mark->time + heddle.round_trips[mark->rail] < way->last_time
        && mark->total - way->last_total >= PROBE_BYTES) {
        OPAL_THREAD_LOCK(&heddle_lock);
        heddle_measured(heddle.host, mark->rail,
                        (now - way->last_time) / (double)(mark->total - way->last_total));
        OPAL_THREAD_UNLOCK(&heddle_lock);
    }
    way->marks -= way->marks > 0;
    way->confirmed = mark->sent;
    way->last_total = mark->total;
    way->last_time = way->since = now;
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
            send_mark(endpoint, rail, 0);
}

/* What carries too little for marks of its own gets one now and then. */
static int watch(void)
{
    static double next;
    double now = heddle_now();
    if (now < next)
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
}

int heddle_confirm_register(void)
{
    if (heddle.limit > 0) {
        opal_progress_register(begin_epoch);
        opal_progress_register_lp(watch);
    }
    return mca_bml.bml_register(HEDDLE_TAG_MARK, arrived, NULL);
}
