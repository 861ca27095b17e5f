/* Numbers for requests and for messages in hand.
 *
 * A handle is not always one request: both libraries give out one handle for all requests that
 * were complete at once. Requests of the same handle are kept in the order in which they were made,
 * and told apart by the address of the variable that holds the handle, where that helps. */
#include <stdlib.h>

#include "recorder.h"

#define KEY(handle) ((uint64_t)(uintptr_t)(handle))
/* How many requests of one handle are looked at for one at the same address. */
#define FAR 16

struct entry {
    uint64_t key;
    const void *address;
    uint32_t next, previous;
    /* What MPI_Comm_idup makes, and where its handle will be. */
    uint32_t communicator;
    MPI_Comm *made;
    bool receive, claimed;
};

/* Entries count from 1; an entry's index is its number. */
struct table {
    struct entry *entries;
    uint32_t room, used, free;
    /* First and last entry of each chain. */
    uint32_t *first, *last;
    uint32_t mask;
};

MPI_Request no_request;
static MPI_Message no_message, no_process;
static struct table requests, messages;

static uint32_t chain_of(const struct table *table, uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & table->mask;
}

static void append(struct table *table, uint32_t number)
{
    struct entry *entry = &table->entries[number];
    uint32_t chain = chain_of(table, entry->key);
    entry->next = 0;
    entry->previous = table->last[chain];
    if (entry->previous)
        table->entries[entry->previous].next = number;
    else
        table->first[chain] = number;
    table->last[chain] = number;
}

/* Doubles the table. What was in one chain stays in its order, and so do requests of one handle. */
static void grow(struct table *table)
{
    uint32_t *old = table->first, chains = table->room;
    uint32_t room = table->room ? 2 * table->room : 256;
    table->entries = realloc(table->entries, room * sizeof *table->entries);
    free(table->last);
    table->first = calloc(room, sizeof *table->first);
    table->last = calloc(room, sizeof *table->last);
    if (!table->entries || !table->first || !table->last)
        abort();
    table->room = room;
    table->mask = room - 1;
    for (uint32_t chain = 0; chain < chains; chain++)
        for (uint32_t number = old[chain], next; number; number = next) {
            next = table->entries[number].next;
            append(table, number);
        }
    free(old);
}

static uint32_t add(struct table *table, struct entry entry)
{
    uint32_t number = table->free;
    if (number) {
        table->free = table->entries[number].next;
    } else {
        if (table->used + 1 >= table->room)
            grow(table);
        number = ++table->used;
    }
    table->entries[number] = entry;
    append(table, number);
    return number;
}

static void drop(struct table *table, uint32_t number)
{
    struct entry *entry = &table->entries[number];
    uint32_t chain = chain_of(table, entry->key);
    if (entry->previous)
        table->entries[entry->previous].next = entry->next;
    else
        table->first[chain] = entry->next;
    if (entry->next)
        table->entries[entry->next].previous = entry->previous;
    else
        table->last[chain] = entry->previous;
    entry->next = table->free;
    table->free = number;
}

/* The entry of a handle that is not claimed: at the address if there is one, else the oldest. */
static uint32_t find(const struct table *table, uint64_t key, const void *address)
{
    uint32_t oldest = 0;
    unsigned seen = 0;
    if (!table->room)
        return 0;
    for (uint32_t number = table->first[chain_of(table, key)]; number && seen < FAR;
         number = table->entries[number].next) {
        const struct entry *entry = &table->entries[number];
        if (entry->key != key || entry->claimed)
            continue;
        if (entry->address == address)
            return number;
        oldest = oldest ? oldest : number;
        seen++;
    }
    return oldest;
}

void requests_start(void)
{
    no_request = MPI_REQUEST_NULL;
    no_message = MPI_MESSAGE_NULL;
    no_process = MPI_MESSAGE_NO_PROC;
}

uint32_t request_made(const MPI_Request *handle, bool receive)
{
    if (*handle == no_request)
        return 0;
    return add(&requests,
               (struct entry){.key = KEY(*handle), .address = handle, .receive = receive});
}

uint32_t request_duplicates(const MPI_Request *handle, uint32_t communicator, MPI_Comm *made)
{
    if (*handle == no_request) {
        communicator_named(communicator, *made);
        return 0;
    }
    return add(&requests, (struct entry){.key = KEY(*handle),
                                         .address = handle,
                                         .communicator = communicator,
                                         .made = made});
}

struct request request_of(const MPI_Request *handle)
{
    if (*handle == no_request)
        return (struct request){0, false};
    uint32_t number = find(&requests, KEY(*handle), handle);
    if (number == 0)
        return (struct request){0, false};
    requests.entries[number].claimed = true;
    return (struct request){number, requests.entries[number].receive};
}

void request_settled(struct request request, const MPI_Request *handle)
{
    if (request.number == 0)
        return;
    struct entry *entry = &requests.entries[request.number];
    entry->claimed = false;
    if (*handle != no_request)
        return;
    if (entry->communicator)
        communicator_named(entry->communicator, *entry->made);
    drop(&requests, request.number);
}

uint32_t message_made(const MPI_Message *handle)
{
    if (*handle == no_message || *handle == no_process)
        return 0;
    return add(&messages, (struct entry){.key = KEY(*handle)});
}

uint32_t message_taken(const MPI_Message *handle)
{
    uint32_t number = find(&messages, KEY(*handle), NULL);
    if (number)
        drop(&messages, number);
    return number;
}

/* ---- Statuses of the standard binary interface ---- */

#ifdef STANDARD_INTERFACE
int64_t status_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    REAL(MPI_Get_elements_x)(status, MPI_BYTE, &bytes);
    return bytes == MPI_UNDEFINED ? 0 : bytes;
}

bool cancelled(const MPI_Status *status)
{
    int flag = 0;
    REAL(MPI_Test_cancelled)(status, &flag);
    return flag != 0;
}
#endif
