/* The proxy module: it looks like one module to the layer above, and hands messages on to rails. */

#include "heddle_bml.h"

#include <stdio.h>
#include <string.h>

/* A descriptor knows its rail by these bits of its flags, which no module looks at. */
#define RAIL_SHIFT 28
#define RAIL_MASK 0xf0000000u

/* The place of a module's endpoint in the table, or the free one where it belongs. */
static struct heddle_place *place_of(const struct mca_btl_base_endpoint_t *of)
{
    size_t at = ((uintptr_t)of >> 4) * 0x9e3779b97f4a7c15u;
    for (at >>= 16;; at++) {
        struct heddle_place *place = &heddle.places[at & (heddle.place_room - 1)];
        if (!place->of || place->of == of)
            return place;
    }
}

/* Makes room in the table for one more; false without memory. */
static bool has_place(void)
{
    if (2 * heddle.place_count >= heddle.place_room) {
        struct heddle_place *old = heddle.places;
        size_t room = heddle.place_room;
        struct heddle_place *larger = calloc(room ? 2 * room : 64, sizeof *larger);
        if (!larger)
            return false;
        heddle.places = larger;
        heddle.place_room = room ? 2 * room : 64;
        for (size_t at = 0; at < room; at++)
            if (old[at].of)
                *place_of(old[at].of) = old[at];
        free(old);
    }
    return true;
}

/* Says which process an endpoint leads to; NULL for none any more. */
static int put_place(struct mca_btl_base_endpoint_t *of, struct heddle_endpoint *endpoint)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    bool is_there = has_place();
    if (is_there) {
        struct heddle_place *place = place_of(of);
        heddle.place_count += !place->of;
        *place = (struct heddle_place){ of, endpoint };
    }
    OPAL_THREAD_UNLOCK(&heddle_lock);
    return is_there ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

static struct heddle_endpoint *endpoint_of(const struct mca_btl_base_endpoint_t *of)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    struct heddle_endpoint *endpoint = place_of(of)->endpoint;
    OPAL_THREAD_UNLOCK(&heddle_lock);
    return endpoint;
}

static unsigned rail_of(const mca_btl_base_descriptor_t *descriptor)
{
    return (descriptor->des_flags & RAIL_MASK) >> RAIL_SHIFT;
}

static void set_rail(mca_btl_base_descriptor_t *descriptor, unsigned rail)
{
    descriptor->des_flags = (descriptor->des_flags & ~RAIL_MASK) | rail << RAIL_SHIFT;
}

static unsigned choose(struct heddle_endpoint *endpoint, size_t bytes)
{
    unsigned rail;
    OPAL_THREAD_LOCK(&heddle_lock);
    rail = heddle_choose(heddle.host, bytes, heddle_within_limits(endpoint), &endpoint->sent);
    OPAL_THREAD_UNLOCK(&heddle_lock);
    return rail;
}

static void count(struct heddle_endpoint *endpoint, unsigned rail, size_t bytes)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    heddle.modules[rail].messages++;
    heddle.modules[rail].bytes += bytes;
    OPAL_THREAD_UNLOCK(&heddle_lock);
    heddle_sent(endpoint, rail, bytes);
}

static size_t length(const mca_btl_base_descriptor_t *descriptor)
{
    size_t bytes = 0;
    for (size_t at = 0; at < descriptor->des_segment_count; at++)
        bytes += descriptor->des_segments[at].seg_len;
    return bytes;
}

static mca_btl_base_descriptor_t *alloc(mca_btl_base_module_t *proxy,
                                        struct mca_btl_base_endpoint_t *to, uint8_t order,
                                        size_t size, uint32_t flags)
{
    struct heddle_endpoint *endpoint = endpoint_of(to);
    unsigned first = choose(endpoint, size);
    (void)proxy;
    /* A rail without a descriptor to spare leaves the message to the others. */
    for (unsigned turn = 0; turn < heddle.count; turn++) {
        unsigned rail = (first + turn) % heddle.count;
        struct heddle_way *way = &endpoint->ways[rail];
        mca_btl_base_descriptor_t *descriptor;
        if (!way->btl)
            continue;
        descriptor = way->btl->btl_alloc(way->btl, way->endpoint, order, size, flags);
        if (descriptor) {
            set_rail(descriptor, rail);
            return descriptor;
        }
    }
    return NULL;
}

static mca_btl_base_descriptor_t *prepare(mca_btl_base_module_t *proxy,
                                          struct mca_btl_base_endpoint_t *to,
                                          struct opal_convertor_t *convertor, uint8_t order,
                                          size_t reserve, size_t *size, uint32_t flags)
{
    struct heddle_endpoint *endpoint = endpoint_of(to);
    unsigned rail = choose(endpoint, reserve + *size);
    struct heddle_way *way = &endpoint->ways[rail];
    mca_btl_base_descriptor_t *descriptor = way->btl->btl_prepare_src(
        way->btl, way->endpoint, convertor, order, reserve, size, flags);
    (void)proxy;
    if (descriptor)
        set_rail(descriptor, rail);
    return descriptor;
}

static int release(mca_btl_base_module_t *proxy, mca_btl_base_descriptor_t *descriptor)
{
    mca_btl_base_module_t *btl = heddle.modules[rail_of(descriptor)].btl;
    (void)proxy;
    return btl->btl_free(btl, descriptor);
}

static int hand_on(mca_btl_base_module_t *proxy, struct mca_btl_base_endpoint_t *to,
                   mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    struct heddle_endpoint *endpoint = endpoint_of(to);
    unsigned rail = rail_of(descriptor);
    struct heddle_way *way = &endpoint->ways[rail];
    size_t bytes = length(descriptor);
    int code = way->btl->btl_send(way->btl, way->endpoint, descriptor, tag);
    (void)proxy;
    count(endpoint, rail, bytes);
    return code;
}

/* Modules that own a descriptor still call this. */
static void is_sent(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *to,
                    mca_btl_base_descriptor_t *descriptor, int status)
{
    (void)btl, (void)to, (void)descriptor, (void)status;
}

/* Sends a header and what a convertor packs, at once. Modules without this (tcp) get a descriptor,
 * which is theirs as soon as it is sent. */
static int send_now(mca_btl_base_module_t *proxy, struct mca_btl_base_endpoint_t *to,
                    struct opal_convertor_t *convertor, void *header, size_t header_size,
                    size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                    mca_btl_base_descriptor_t **rest)
{
    struct heddle_endpoint *endpoint = endpoint_of(to);
    size_t size = header_size + payload_size;
    unsigned rail = choose(endpoint, size);
    struct heddle_way *way = &endpoint->ways[rail];
    mca_btl_base_descriptor_t *descriptor;
    char *room;
    int code;

    (void)proxy;
    if (rest)
        *rest = NULL;
    if (way->btl->btl_sendi) {
        code = way->btl->btl_sendi(way->btl, way->endpoint, convertor, header, header_size,
                                   payload_size, order, flags, tag, rest);
        if (code == OPAL_SUCCESS)
            count(endpoint, rail, size);
        else if (rest && *rest)
            set_rail(*rest, rail);
        return code;
    }
    flags |= MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    flags &= ~(uint32_t)MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
    descriptor = way->btl->btl_alloc(way->btl, way->endpoint, order, size, flags);
    if (!descriptor)
        return OPAL_ERR_OUT_OF_RESOURCE;
    room = descriptor->des_segments->seg_addr.pval;
    memcpy(room, header, header_size);
    if (payload_size) {
        struct iovec packed = { .iov_base = room + header_size, .iov_len = payload_size };
        uint32_t pieces = 1;
        size_t most = payload_size;
        opal_convertor_pack(convertor, &packed, &pieces, &most);
    }
    descriptor->des_cbfunc = is_sent;
    code = way->btl->btl_send(way->btl, way->endpoint, descriptor, tag);
    count(endpoint, rail, size);
    return code < 0 && code != OPAL_ERR_RESOURCE_BUSY ? code : OPAL_SUCCESS;
}

/* The process that an endpoint of a module leads to; NULL if no rails are known to. */
struct heddle_endpoint *heddle_endpoint_of(const struct mca_btl_base_endpoint_t *of)
{
    return heddle.host && heddle.places ? endpoint_of(of) : NULL;
}

/* A rail carries a part of a large message. */
void heddle_carries(const struct mca_btl_base_endpoint_t *to, unsigned rail, size_t bytes)
{
    struct heddle_endpoint *endpoint = heddle_endpoint_of(to);
    if (!endpoint)
        return;
    OPAL_THREAD_LOCK(&heddle_lock);
    heddle.modules[rail].parts++;
    heddle.modules[rail].part_bytes += bytes;
    OPAL_THREAD_UNLOCK(&heddle_lock);
    heddle_used(heddle.host, (uint8_t)rail, bytes);
    endpoint->ways[rail].is_active = true;
}

/* Sends a message of the component's own over one rail, with zeros up to `bytes + padding`. */
int heddle_send_small(const struct heddle_way *way, mca_btl_base_tag_t tag, const void *data,
                      size_t bytes, size_t padding)
{
    uint32_t flags = MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_FLAGS_PRIORITY;
    mca_btl_base_descriptor_t *descriptor = way->btl->btl_alloc(
        way->btl, way->endpoint, MCA_BTL_NO_ORDER, bytes + padding, flags);
    int code;
    if (!descriptor)
        return OPAL_ERR_OUT_OF_RESOURCE;
    memcpy(descriptor->des_segments->seg_addr.pval, data, bytes);
    memset((char *)descriptor->des_segments->seg_addr.pval + bytes, 0, padding);
    descriptor->des_cbfunc = is_sent;
    code = way->btl->btl_send(way->btl, way->endpoint, descriptor, tag);
    return code < 0 && code != OPAL_ERR_RESOURCE_BUSY ? code : OPAL_SUCCESS;
}

/* Modules within a host are no rails: where one leads to a process, it is alone. */
static bool leads_outside(const mca_btl_base_module_t *btl)
{
    static const char *const inside[] = { "self", "sm", "vader", "smcuda" };
    const char *name = btl->btl_component->btl_version.mca_component_name;
    if (!(btl->btl_flags & MCA_BTL_FLAGS_SEND))
        return false;
    for (size_t at = 0; at < sizeof inside / sizeof *inside; at++)
        if (strcmp(name, inside[at]) == 0)
            return heddle.always && strcmp(name, "self") != 0;
    return true;
}

/* Names rails as the interfaces that the user has chosen for tcp, if it is these that they are. */
static void name_by_choice(void)
{
    const char *choice = heddle_choice("tcp", "if_include");
    const char *at = choice;
    unsigned named = 0;
    if (!choice || strchr(choice, '/'))
        return;
    for (const char *comma = choice; (comma = strchr(comma, ',')); comma++)
        named++;
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (strncmp(heddle.modules[rail].name, "tcp.", 4) != 0)
            return;
    if (named + 1 != heddle.count)
        return;
    for (unsigned rail = 0; rail < heddle.count; rail++) {
        int length = (int)strcspn(at, ",");
        snprintf(heddle.modules[rail].name, sizeof heddle.modules[rail].name, "%.*s", length, at);
        at += length + (at[length] == ',');
    }
}

/* Finds the rails of this process, in the order in which Open MPI has made their modules. */
int heddle_find_modules(void)
{
    mca_btl_base_selected_module_t *item;
    OPAL_LIST_FOREACH(item, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t) {
        mca_btl_base_module_t *btl = item->btl_module;
        struct heddle_module *module = &heddle.modules[heddle.count];
        if (!leads_outside(btl))
            continue;
        if (heddle.count == HEDDLE_MOST_RAILS)
            return heddle_fatal("there are more than %d rails; btl_tcp_if_include and the like "
                                "choose among them", HEDDLE_MOST_RAILS);
        module->btl = btl;
        snprintf(module->name, sizeof module->name, "%.20s.%u",
                 btl->btl_component->btl_version.mca_component_name, heddle.count);
        heddle.count++;
    }
    name_by_choice();
    return OMPI_SUCCESS;
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Makes the proxy, with the limits that all rails keep to. */
void heddle_describe(void)
{
    mca_btl_base_module_t *proxy = &heddle.proxy;
    *proxy = *heddle.modules[0].btl;
    for (unsigned rail = 1; rail < heddle.count; rail++) {
        const mca_btl_base_module_t *btl = heddle.modules[rail].btl;
        proxy->btl_eager_limit = least(proxy->btl_eager_limit, btl->btl_eager_limit);
        proxy->btl_rndv_eager_limit = least(proxy->btl_rndv_eager_limit, btl->btl_rndv_eager_limit);
        proxy->btl_max_send_size = least(proxy->btl_max_send_size, btl->btl_max_send_size);
        proxy->btl_flags &= btl->btl_flags;
    }
    /* Large messages take the modules themselves, by put and get. */
    proxy->btl_flags &= ~(uint32_t)(MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_ATOMIC_OPS
                                    | MCA_BTL_FLAGS_ATOMIC_FOPS);
    proxy->btl_atomic_flags = 0;
    proxy->btl_alloc = alloc;
    proxy->btl_free = release;
    proxy->btl_prepare_src = prepare;
    proxy->btl_send = hand_on;
    proxy->btl_sendi = send_now;
    proxy->btl_put = NULL;
    proxy->btl_get = NULL;
    proxy->btl_register_mem = NULL;
    proxy->btl_deregister_mem = NULL;
}

bool heddle_is_rail(const mca_btl_base_module_t *btl)
{
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (heddle.modules[rail].btl == btl)
            return true;
    return false;
}

/* Makes the list for first fragments: an entry for each rail, which all are the proxy. */
static void show(struct heddle_endpoint *endpoint)
{
    mca_bml_base_btl_array_t *list = &endpoint->base->btl_eager;
    endpoint->entry_count = 0;
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (endpoint->ways[rail].btl)
            endpoint->entries[endpoint->entry_count++] = (mca_bml_base_btl_t){
                .btl_flags = heddle.proxy.btl_flags,
                .btl_weight = 1,
                .btl = &heddle.proxy,
                .btl_endpoint = endpoint->ways[rail].endpoint,
            };
    list->bml_btls = endpoint->entries;
    list->arr_size = list->arr_reserve = endpoint->entry_count;
    list->arr_index = 0;
}

/* Gives an endpoint its number. */
static int keep(struct heddle_endpoint *endpoint)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    if (heddle.endpoint_count == heddle.endpoint_room) {
        uint32_t room = heddle.endpoint_room ? 2 * heddle.endpoint_room : 16;
        void *larger = realloc(heddle.endpoints, room * sizeof *heddle.endpoints);
        if (larger) {
            heddle.endpoints = larger;
            heddle.endpoint_room = room;
        }
    }
    bool has_room = heddle.endpoint_count < heddle.endpoint_room;
    if (has_room) {
        endpoint->number = heddle.endpoint_count;
        heddle.endpoints[heddle.endpoint_count++] = endpoint;
    }
    OPAL_THREAD_UNLOCK(&heddle_lock);
    return has_room ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* The endpoint of a number; NULL if it is gone. */
struct heddle_endpoint *heddle_numbered(uint32_t number)
{
    OPAL_THREAD_LOCK(&heddle_lock);
    struct heddle_endpoint *found =
        number < heddle.endpoint_count ? heddle.endpoints[number] : NULL;
    OPAL_THREAD_UNLOCK(&heddle_lock);
    return found;
}

static bool is_attached(const mca_bml_base_endpoint_t *base)
{
    return base->btl_eager.arr_size > 0 && base->btl_eager.bml_btls->btl == &heddle.proxy;
}

/* Puts the proxy before the rails that lead to a process. */
int heddle_attach(ompi_proc_t *proc)
{
    mca_bml_base_endpoint_t *base = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    struct heddle_endpoint *endpoint;

    if (!heddle.host || !base || is_attached(base))
        return OMPI_SUCCESS;
    endpoint = calloc(1, sizeof *endpoint);
    if (!endpoint)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t at = 0; at < base->btl_send.arr_size; at++)
        for (unsigned rail = 0; rail < heddle.count; rail++) {
            const mca_bml_base_btl_t *entry = &base->btl_send.bml_btls[at];
            if (entry->btl != heddle.modules[rail].btl)
                continue;
            endpoint->ways[rail].btl = entry->btl;
            endpoint->ways[rail].endpoint = entry->btl_endpoint;
            endpoint->usable |= (uint8_t)(1u << rail);
        }
    if (endpoint->usable == 0) {
        free(endpoint);
        return OMPI_SUCCESS;
    }
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (endpoint->ways[rail].btl
            && put_place(endpoint->ways[rail].endpoint, endpoint) != OMPI_SUCCESS)
            return OMPI_ERR_OUT_OF_RESOURCE;
    endpoint->base = base;
    endpoint->stock = base->btl_eager.bml_btls;
    endpoint->stock_size = base->btl_eager.arr_size;
    endpoint->stock_reserve = base->btl_eager.arr_reserve;
    show(endpoint);
    heddle_weigh(endpoint, HEDDLE_LARGE);
    return keep(endpoint);
}

/* A process that rails lead to; NULL for others. */
struct heddle_endpoint *heddle_attached(const ompi_proc_t *proc)
{
    mca_bml_base_endpoint_t *base = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    if (!base || !is_attached(base))
        return NULL;
    return endpoint_of(base->btl_eager.bml_btls->btl_endpoint);
}

/* The way to a process of the least latency, for messages of the component's own. */
struct heddle_way heddle_best_way(ompi_proc_t *proc)
{
    struct heddle_way way = { .btl = NULL };
    mca_bml_base_endpoint_t *base = mca_bml_base_get_endpoint(proc);
    const struct heddle_endpoint *endpoint = heddle_attached(proc);
    uint64_t latency = UINT64_MAX;
    for (unsigned rail = 0; endpoint && rail < heddle.count; rail++)
        if (endpoint->ways[rail].btl && heddle.rails[rail].latency < latency) {
            latency = heddle.rails[rail].latency;
            way = endpoint->ways[rail];
        }
    if (!way.btl && base && base->btl_send.arr_size > 0) {
        way.btl = base->btl_send.bml_btls->btl;
        way.endpoint = base->btl_send.bml_btls->btl_endpoint;
    }
    return way;
}

/* Gives a process the list back that r2 has made, which r2 then frees. */
void heddle_detach(ompi_proc_t *proc)
{
    struct heddle_endpoint *endpoint = heddle_attached(proc);
    if (!endpoint)
        return;
    endpoint->base->btl_eager.bml_btls = endpoint->stock;
    endpoint->base->btl_eager.arr_size = endpoint->stock_size;
    endpoint->base->btl_eager.arr_reserve = endpoint->stock_reserve;
    /* A late confirmation finds no endpoint at its number. The table keeps the addresses, as there
     * may be others behind them. */
    heddle.endpoints[endpoint->number] = NULL;
    heddle_forget(endpoint);
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (endpoint->ways[rail].endpoint)
            put_place(endpoint->ways[rail].endpoint, NULL);
    free(endpoint);
}

/* A rail does not lead to a process any more; without any, all is as r2 makes it. */
void heddle_remove(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    struct heddle_endpoint *endpoint = heddle_attached(proc);
    if (!endpoint)
        return;
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (endpoint->ways[rail].btl == btl) {
            endpoint->usable &= (uint8_t)~(1u << rail);
            endpoint->ways[rail].btl = NULL;
        }
    if (!endpoint->usable) {
        heddle_detach(proc);
        return;
    }
    show(endpoint);
}
