/* The component `heddle` of Open MPI's framework bml: it stands between the point-to-point layer
 * (ob1) and the byte transfer modules, and chooses the module, the rail, of every small message.
 *
 * The component `r2` sets up the modules as always. Where rails lead to a process, all entries of
 * its list for first fragments become one proxy module, which asks the scheduler and hands each
 * message on to a real module. Three things of the layer above are met with:
 *
 * - It takes only those modules for large messages whose endpoints are in that list: so there is an
 *   entry for each rail, with the rail's endpoint.
 * - It answers a rendezvous over the module that has brought it, if that is in the list: so it is
 *   told that the proxy has brought it.
 * - It advances through the list with each attempt: so all entries are the same. */

#ifndef HEDDLE_BML_H
#define HEDDLE_BML_H

#include "ompi_config.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/proc/proc.h"
#include "opal/mca/btl/base/base.h"

#include "heddle_rails.h"

/* A rail of this process: a module that leads to other hosts. */
struct heddle_module {
    mca_btl_base_module_t *btl;
    char name[32];
    mca_btl_base_module_put_fn_t put;   /* of the module itself */
    mca_btl_base_module_send_fn_t send;
    unsigned long long messages, bytes; /* sent through the scheduler */
    unsigned long long parts, part_bytes; /* of large messages */
    unsigned long long passed;          /* messages that its limit has kept from it */
};

/* What this process has sent to another over one rail. */
struct heddle_way {
    mca_btl_base_module_t *btl;
    struct mca_btl_base_endpoint_t *endpoint;
    uint64_t sent, marked, confirmed; /* bytes, those before the last mark, those that arrived */
    uint64_t before, epoch;           /* bytes before the first message since `heddle.epoch` */
    unsigned close_marks;             /* how many of the next marks follow each other closely */
    unsigned marks;                   /* marks without a confirmation */
    unsigned probes;                  /* how many may follow one that was late */
    bool is_active;                   /* it has carried something since the last mark */
    bool is_probed;                   /* a mark that looks whether it is slower is under way */
    double probed;                    /* when the last of these left, in nanoseconds */
    double since;                     /* when the first of them left, or one was confirmed */
    double last_time;                 /* when the last was confirmed, in nanoseconds */
};

/* Another process, to which rails lead. */
struct heddle_endpoint {
    struct heddle_way ways[HEDDLE_MOST_RAILS]; /* by the number of the rail */
    uint8_t usable;                            /* a bit for each rail that leads there */
    struct heddle_toward sent;                 /* of messages */
    uint8_t turn;                              /* of large messages that are asked for */
    uint64_t large;                            /* bytes of the last one that was announced */
    uint32_t number;
    mca_bml_base_endpoint_t *base;
    mca_bml_base_btl_t *stock; /* the list for first fragments that r2 has made */
    size_t stock_size, stock_reserve;
    mca_bml_base_btl_t entries[HEDDLE_MOST_RAILS];
    size_t entry_count;
};

struct heddle_place {
    struct mca_btl_base_endpoint_t *of;
    struct heddle_endpoint *endpoint;
};

/* The component's parameters and its state. */
struct heddle_state {
    /* Parameters of the user's. */
    char *policy, *parameters, *cache;
    int cache_hours, shared, summary, always;
    unsigned long long limit;

    struct heddle_module modules[HEDDLE_MOST_RAILS];
    struct heddle_rail rails[HEDDLE_MOST_RAILS];
    unsigned count;
    bool started, ends; /* ends: processes are being removed */
    heddle_host *host; /* NULL until the rails' parameters are known */
    heddle_host *incoming;              /* of large messages that others are asked for */
    uint64_t epoch;                     /* grows whenever messages are received */
    uint64_t spacings[HEDDLE_MOST_RAILS]; /* bytes between two marks */
    uint64_t limits[HEDDLE_MOST_RAILS];   /* of unconfirmed bytes */
    double round_trips[HEDDLE_MOST_RAILS]; /* of an idle rail, in nanoseconds */

    mca_btl_base_module_t proxy;
    struct heddle_endpoint **endpoints; /* by number */
    uint32_t endpoint_count, endpoint_room;
    struct heddle_place *places; /* by the address of a module's endpoint */
    size_t place_count, place_room;
};

extern struct heddle_state heddle;
extern opal_mutex_t heddle_lock;

/* component.c */
int heddle_fatal(const char *format, ...);
void heddle_warn(const char *format, ...);
double heddle_now(void); /* nanoseconds */
const char *heddle_choice(const char *component, const char *name);

/* proxy.c */
int heddle_find_modules(void);
void heddle_describe(void);
bool heddle_is_rail(const mca_btl_base_module_t *btl);
int heddle_attach(ompi_proc_t *proc);
void heddle_detach(ompi_proc_t *proc);
void heddle_remove(ompi_proc_t *proc, mca_btl_base_module_t *btl);
struct heddle_way heddle_best_way(ompi_proc_t *proc);
int heddle_send_small(const struct heddle_way *way, mca_btl_base_tag_t tag, const void *data,
                      size_t bytes, size_t padding);

void heddle_carries(const struct mca_btl_base_endpoint_t *to, unsigned rail, size_t bytes);
struct heddle_endpoint *heddle_endpoint_of(const struct mca_btl_base_endpoint_t *of);
struct heddle_endpoint *heddle_attached(const ompi_proc_t *proc);
struct heddle_endpoint *heddle_numbered(uint32_t number);

/* large.c */
#define HEDDLE_LARGE ((uint64_t)1 << 30)
void heddle_weigh(struct heddle_endpoint *endpoint, uint64_t bytes);
mca_btl_base_module_recv_cb_fn_t heddle_receiver(mca_btl_base_tag_t tag,
                                                 mca_btl_base_module_recv_cb_fn_t callback);
void heddle_watch_large(void);

/* confirm.c */
int heddle_confirm_register(void);
void heddle_confirm_stop(void);
void heddle_settle(const ompi_proc_t *proc, double end);
void heddle_forget(const struct heddle_endpoint *endpoint);
uint8_t heddle_within_limits(struct heddle_endpoint *endpoint);
void heddle_sent(struct heddle_endpoint *endpoint, unsigned rail, size_t bytes);

/* start.c */
bool heddle_way_over(ompi_proc_t *proc, const mca_btl_base_module_t *btl,
                     struct heddle_way *way);

/* Knows the parameters of the rails when it returns. */
int heddle_start(void);

/* Tags of messages of the component's own, in the range for users of modules. */
#define HEDDLE_TAG_TRIP (MCA_BTL_TAG_USR + 0x18)
#define HEDDLE_TAG_RAILS (MCA_BTL_TAG_USR + 0x19)
#define HEDDLE_TAG_MARK (MCA_BTL_TAG_USR + 0x1a)

#endif
