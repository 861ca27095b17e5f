/* Large messages: the layer above splits them over the modules by weights, and puts the parts. */

#include "heddle_bml.h"

#include <string.h>

#include "ompi/communicator/communicator.h"

/* The kinds of messages of the layer above that begin a large message, and that ask for a part of
 * one, and what of them is looked at: where the message comes from and how long the whole is, and
 * how long the part is. */
#define RENDEZVOUS (MCA_BTL_TAG_PML + 2)
#define REQUEST (MCA_BTL_TAG_PML + 8)

struct rendezvous {
    uint8_t kind, flags;
    uint16_t communicator;
    int32_t source, tag;
    uint16_t sequence, unused;
    uint64_t bytes;
};

struct request {
    uint8_t kind, flags;
    uint64_t of, fragment, receive, offset, place, bytes;
};

static mca_btl_base_module_recv_cb_fn_t rendezvous;

static void weigh_list(const struct heddle_endpoint *endpoint, mca_bml_base_btl_array_t *list,
                       const double *shares)
{
    for (size_t at = 0; at < list->arr_size; at++)
        for (unsigned rail = 0; rail < heddle.count; rail++)
            if (endpoint->ways[rail].btl && endpoint->ways[rail].btl == list->bml_btls[at].btl)
                list->bml_btls[at].btl_weight = (float)shares[rail];
}

/* The layer above makes no part for what is left when that is not more than the limit of small
 * messages: the rail of the largest share takes that, too. */
static bool is_split(uint64_t bytes, const double *shares)
{
    double most = 0;
    for (unsigned rail = 0; rail < heddle.count; rail++)
        most = shares[rail] > most ? shares[rail] : most;
    return (1 - most) * (double)bytes > (double)heddle.proxy.btl_eager_limit;
}

/* Weights by which all parts of a message of so many bytes arrive at the same time, or the message
 * takes the rail that delivers it first, beside what this process has asked for before. They hold
 * for the message whose data is asked for next. */
void heddle_weigh(struct heddle_endpoint *endpoint, uint64_t bytes)
{
    double shares[HEDDLE_MOST_RAILS];
    heddle_shares(heddle.host, bytes, endpoint->usable, shares);
    if (!is_split(bytes, shares)) {
        OPAL_THREAD_LOCK(&heddle_lock);
        uint8_t next = heddle_next(heddle.incoming, bytes, endpoint->usable, endpoint->turn);
        OPAL_THREAD_UNLOCK(&heddle_lock);
        for (unsigned rail = 0; rail < heddle.count; rail++)
            shares[rail] = rail == next;
    }
    endpoint->large = bytes;
    weigh_list(endpoint, &endpoint->base->btl_rdma, shares);
    if (bytes == HEDDLE_LARGE)
        weigh_list(endpoint, &endpoint->base->btl_send, shares);
}

/* The receiver of a large message asks for its parts. */
static void arrived(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                    mca_btl_base_descriptor_t *descriptor, void *data)
{
    struct rendezvous header;
    if (!heddle.host || !heddle_is_rail(btl)) {
        rendezvous(btl, tag, descriptor, data);
        return;
    }
    if (descriptor->des_segments->seg_len >= sizeof header) {
        memcpy(&header, descriptor->des_segments->seg_addr.pval, sizeof header);
        ompi_communicator_t *communicator = ompi_comm_lookup(header.communicator);
        if (communicator && !ompi_comm_peer_invalid(communicator, header.source)) {
            struct heddle_endpoint *from =
                heddle_attached(ompi_comm_peer_lookup(communicator, header.source));
            if (from)
                heddle_weigh(from, header.bytes);
        }
    }
    /* It answers over the module that is in its list. */
    rendezvous(&heddle.proxy, tag, descriptor, data);
}

mca_btl_base_module_recv_cb_fn_t heddle_receiver(mca_btl_base_tag_t tag,
                                                 mca_btl_base_module_recv_cb_fn_t callback)
{
    if (tag != RENDEZVOUS)
        return callback;
    rendezvous = callback;
    return arrived;
}

/* A part of a large message is asked for over a rail. The next message may have been announced long
 * ago, when no receive was ready for it: of several in a row each finds the weights that hold after
 * the one before it. They are taken to be as long as the last that was announced. */
static void asked(struct heddle_endpoint *endpoint, unsigned rail, uint64_t bytes)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    if (bytes < endpoint->large)
        heddle_used(heddle.incoming, (uint8_t)rail, bytes);
    else
        heddle_taken(heddle.incoming, (uint8_t)rail, bytes, endpoint->usable, &endpoint->turn);
    OPAL_THREAD_UNLOCK(&heddle_lock);
    heddle_weigh(endpoint, endpoint->large);
}

static int ask(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *to,
               mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    const mca_btl_base_segment_t *segment = descriptor->des_segments;
    unsigned rail = 0;
    while (rail < heddle.count && heddle.modules[rail].btl != btl)
        rail++;
    if (rail == heddle.count)
        return OPAL_ERR_NOT_AVAILABLE;
    if (tag == REQUEST && segment->seg_len >= sizeof(struct request)) {
        struct request request;
        struct heddle_endpoint *endpoint = heddle_endpoint_of(to);
        memcpy(&request, segment->seg_addr.pval, sizeof request);
        if (endpoint)
            asked(endpoint, rail, request.bytes);
    }
    return heddle.modules[rail].send(btl, to, descriptor, tag);
}

/* Parts of large messages make a rail busy. */
static int put(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *local,
               uint64_t remote, mca_btl_base_registration_handle_t *local_handle,
               mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
               int order, mca_btl_base_rdma_completion_fn_t callback, void *context, void *data)
{
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (heddle.modules[rail].btl == btl) {
            heddle_carries(endpoint, rail, size);
            return heddle.modules[rail].put(btl, endpoint, local, remote, local_handle,
                                            remote_handle, size, flags, order, callback, context,
                                            data);
        }
    return OPAL_ERR_NOT_AVAILABLE;
}

void heddle_watch_large(void)
{
    for (unsigned rail = 0; rail < heddle.count; rail++) {
        mca_btl_base_module_t *btl = heddle.modules[rail].btl;
        heddle.modules[rail].put = btl->btl_put;
        if (btl->btl_put)
            btl->btl_put = put;
        heddle.modules[rail].send = btl->btl_send;
        btl->btl_send = ask;
    }
}
