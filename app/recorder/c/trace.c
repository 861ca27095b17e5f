/* The file of a rank, and the buffer before it.
 *
 * Records are collected in `rank-N.tail`, a file mapped into memory, so that the kernel keeps them
 * whatever becomes of the process: `heddle record` appends the tail of a rank that died to its
 * trace. A full buffer is compressed and appended to `rank-N.hdl` as a block. The tail's header
 * says to which byte of the trace it belongs, so that a process that dies between these steps
 * leaves nothing twice. */
#define _GNU_SOURCE
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

/* A block is written when so much is buffered. */
#define BLOCK_BYTES (512u << 10)
#define ROOM (64u << 10)
#define LEVEL (-3)
#define FIRST_UNLISTED 1024u

/* What stands in the first page of a tail; little endian. `app/recorder/src/tail.rs` reads it. */
struct slot {
    uint64_t used, offset, base, calls;
};
struct tail {
    char magic[8];
    uint64_t current;
    struct slot slots[2];
};
#define TAIL_HEADER 4096u

static int file = -1;
static pid_t owner;
static char tail_path[4096];
static struct tail *tail;
static struct slot *slot;
static unsigned char *buffer;
static size_t capacity;
/* When the last recorded call returned, and whose the last call of the block was. */
static uint64_t last;
static unsigned block_thread;
/* Threads that have called, besides the first. */
static unsigned threads;
/* Where the record in hand starts. */
static unsigned char *body;
static uint64_t defined;
static uint64_t total_calls;

static ZSTD_CCtx *compressor;
static unsigned char *packed;
static size_t packed_size;

struct entry {
    uint64_t start, base, calls, definitions;
};
static struct entry *entries;
static size_t entry_count, entry_room;

static unsigned char *named;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

uint64_t trace_start;

void lock_slowly(void)
{
    pthread_mutex_lock(&mutex);
}

void unlock_slowly(void)
{
    pthread_mutex_unlock(&mutex);
}

/* The trace cannot go on; the program does. */
static void give_up(const char *what)
{
    fprintf(stderr, "heddle record: %s: %s; recording stops here\n", what, strerror(errno));
    recording = false;
    file = -1;
}

static bool write_at(const void *bytes, size_t count, uint64_t offset)
{
    const unsigned char *next = bytes;
    while (count > 0) {
        ssize_t written = pwrite(file, next, count, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        offset += (uint64_t)written;
        count -= (size_t)written;
    }
    return true;
}

/* Maps the tail with room for so many bytes of records. */
static bool map_tail(size_t bytes)
{
    int descriptor = open(tail_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return false;
    void *mapped = MAP_FAILED;
    /* Allocated now: a full disk is an error here and not a signal later. */
    errno = posix_fallocate(descriptor, 0, (off_t)(TAIL_HEADER + bytes));
    if (errno == 0)
        mapped = mmap(NULL, TAIL_HEADER + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (mapped == MAP_FAILED)
        return false;
    if (tail)
        munmap(tail, TAIL_HEADER + capacity);
    tail = mapped;
    slot = &tail->slots[tail->current & 1];
    buffer = (unsigned char *)mapped + TAIL_HEADER;
    capacity = bytes;
    packed_size = 24 + ZSTD_compressBound(bytes);
    free(packed);
    packed = malloc(packed_size);
    return packed != NULL;
}

static out_t put_fixed(out_t out, uint64_t value, unsigned bytes)
{
    for (unsigned index = 0; index < bytes; index++)
        *out++ = (unsigned char)(value >> (8 * index));
    return out;
}

static out_t put_text(out_t out, const char *text, size_t length)
{
    length = length < 60000 ? length : 60000;
    out = put_fixed(out, length, 2);
    memcpy(out, text, length);
    return out + length;
}

/* The command of this process, with spaces between its words. */
static size_t command(char *text, size_t room)
{
    int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? 0 : read(descriptor, text, room);
    if (descriptor >= 0)
        close(descriptor);
    while (length > 0 && text[length - 1] == 0)
        length--;
    for (ssize_t index = 0; index < length; index++)
        if (text[index] == 0)
            text[index] = ' ';
    return length < 0 ? 0 : (size_t)length;
}

static size_t write_header(int rank, int size, uint64_t start, uint64_t wall)
{
    static unsigned char header[40 + 4 * 2 + 256 + MPI_MAX_LIBRARY_VERSION_STRING + 4096 + 64];
    char host[256] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "", words[4096];
    int length = 0;
    gethostname(host, sizeof host - 1);
    PMPI_Get_library_version(library, &length);
    memcpy(header, "HEDDLETR", 8);
    out_t out = put_fixed(header + 8, 1, 2);
    out = put_fixed(out, heddle_now != NULL, 2);
    out = put_fixed(out, 0, 4);
    out = put_fixed(out, (uint64_t)rank, 4);
    out = put_fixed(out, (uint64_t)size, 4);
    out = put_fixed(out, start, 8);
    out = put_fixed(out, wall, 8);
    out = put_text(out, host, strlen(host));
    out = put_text(out, library, strnlen(library, sizeof library));
    out = put_text(out, words, command(words, sizeof words));
    out = put_text(out, "heddle " HEDDLE_VERSION, strlen("heddle " HEDDLE_VERSION));
    size_t bytes = (size_t)(out - header);
    put_fixed(header + 12, bytes, 4);
    return write_at(header, bytes, 0) ? bytes : 0;
}

void trace_open(int rank, int size, uint64_t start, uint64_t wall)
{
    const char *folder = getenv("HEDDLE_RECORD");
    char path[4096];
    int width = snprintf(NULL, 0, "%d", size - 1);
    trace_start = start;
    last = 0;
    owner = getpid();
    if (!folder || !*folder || strlen(folder) > sizeof path - 64)
        return;
    snprintf(path, sizeof path, "%s/rank-%0*d.hdl", folder, width, rank);
    snprintf(tail_path, sizeof tail_path, "%s/rank-%0*d.tail", folder, width, rank);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        give_up(path);
        return;
    }
    compressor = ZSTD_createCCtx();
    named = calloc(2 * (FUNCTION_COUNT + 2), 1);
    unlink(tail_path);
    size_t header = write_header(rank, size, start, wall);
    if (!compressor || !named || header == 0 || !map_tail(BLOCK_BYTES + ROOM)) {
        give_up(path);
        /* By an empty tail, `heddle record` knows. */
        int empty = open(tail_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (empty >= 0)
            close(empty);
        return;
    }
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    memcpy(tail->magic, "HEDDLETL", 8);
    slot->offset = header;
    recording = true;
    if (heddle_tell_looks)
        heddle_tell_looks(trace_look);
    if (heddle_tell_agreements)
        heddle_tell_agreements(trace_agreement);
}

/* Tells the compiler, and the kernel's view of the mapping, that what was written stands. */
static inline void commit(uint64_t *place, uint64_t value)
{
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
}

void trace_flush(void)
{
    if (file < 0 || slot->used == 0 || getpid() != owner)
        return;
    size_t size = ZSTD_compress2(compressor, packed + 24, packed_size - 24, buffer, slot->used);
    if (ZSTD_isError(size)) {
        errno = ENOMEM;
        give_up("compression");
        return;
    }
    memcpy(packed, "HBLK", 4);
    out_t out = put_fixed(packed + 4, size, 4);
    out = put_fixed(out, slot->used, 4);
    out = put_fixed(out, slot->calls, 4);
    put_fixed(out, slot->base, 8);
    if (!write_at(packed, 24 + size, slot->offset)) {
        give_up(tail_path);
        return;
    }
    if (entry_count == entry_room) {
        entry_room = 2 * entry_room + 64;
        struct entry *more = realloc(entries, entry_room * sizeof *entries);
        if (!more) {
            give_up("index");
            return;
        }
        entries = more;
    }
    entries[entry_count++] = (struct entry){slot->offset, slot->base, total_calls, defined};
    total_calls += slot->calls;
    defined = 0;
    uint64_t next = (tail->current & 1) ^ 1;
    tail->slots[next] = (struct slot){0, slot->offset + 24 + size, last, 0};
    commit(&tail->current, next);
    slot = &tail->slots[next];
    block_thread = 0;
}

/* Room for a record. */
static bool reserve(size_t most)
{
    if (likely(slot->used + most <= capacity && slot->used < BLOCK_BYTES))
        return true;
    trace_flush();
    if (file >= 0 && most > capacity && !map_tail(most + ROOM))
        give_up(tail_path);
    return file >= 0;
}

/* Where what cannot be recorded any more goes. */
static out_t nowhere(size_t most)
{
    static unsigned char *pit;
    static size_t room;
    if (room < most) {
        free(pit);
        room = most + ROOM;
        pit = malloc(room);
        if (!pit)
            abort();
    }
    body = NULL;
    return pit;
}

out_t trace_begin(unsigned number, const struct call *call, size_t most)
{
    if (file < 0 || !reserve(most + 64))
        return nowhere(most);
    if (thread_number == NO_THREAD)
        thread_number = ++threads;
    if (thread_number != block_thread) {
        out_t out = trace_define(5, 16);
        trace_defined(put(out, thread_number));
        block_thread = thread_number;
    }
    if (call->moment && call->moment >= call->enter) {
        out_t out = trace_define(6, 24);
        trace_defined(put(put(out, call->moment - call->enter), call->turn));
    }
    uint64_t from = call->enter - trace_start;
    body = buffer + slot->used;
    out_t out = put(body, number);
    out = put_signed(out, (int64_t)(from - last));
    last = call->leave - trace_start;
    return put(out, call->leave - call->enter);
}

void trace_end(out_t out)
{
    if (body) {
        slot->calls++;
        commit(&slot->used, (uint64_t)(out - buffer));
    }
}

/* The length of the body stands before it, in as many bytes as the largest takes. */
static size_t length_bytes(size_t most)
{
    unsigned char scratch[10];
    return (size_t)(put(scratch, most) - scratch);
}
static size_t definition_width;

out_t trace_define(unsigned kind, size_t most)
{
    if (file < 0 || !reserve(most + 32))
        return nowhere(most);
    definition_width = length_bytes(most);
    body = buffer + slot->used;
    return put(body, kind) + definition_width;
}

void trace_defined(out_t out)
{
    if (!body)
        return;
    /* A varint may be longer than it need be. */
    unsigned char *place = body + 1;
    size_t length = (size_t)(out - place) - definition_width;
    for (size_t index = 0; index + 1 < definition_width; index++, length >>= 7)
        place[index] = (unsigned char)(length | 0x80);
    place[definition_width - 1] = (unsigned char)length;
    defined++;
    commit(&slot->used, (uint64_t)(out - buffer));
}

void trace_unlisted(unsigned function, const struct call *call, bool failed)
{
    unsigned index = 2 * function + failed;
    if (!named[index]) {
        char name[128];
        int length = snprintf(name, sizeof name, "%s%s", function_names[function],
                              failed ? " (failed)" : "");
        out_t out = trace_define(1, sizeof name + 16);
        out = put(put(out, FIRST_UNLISTED + index), (uint64_t)length);
        memcpy(out, name, (size_t)length);
        trace_defined(out + length);
        named[index] = 1;
    }
    trace_end(trace_begin(FIRST_UNLISTED + index, call, FIXED_BYTES));
}

void trace_look(uint64_t begin, uint64_t end)
{
    struct call call = {.enter = begin, .leave = end < begin ? begin : end};
    if (!recording || inside)
        return;
    inside = true;
    lock();
    trace_unlisted(FUNCTION_COUNT, &call, false);
    unlock();
    inside = false;
}

/* The number of MPI_File in calls.csv. */
#define AGREEMENT 266

/* Within a call of MPI-IO, its ranks agree, or this one has a turn. */
void trace_agreement(uint64_t begin, uint64_t end, bool is_turn)
{
    struct call call = {.enter = begin, .leave = end < begin ? begin : end};
    if (!recording || !meeting)
        return;
    lock();
    if (is_turn) {
        trace_unlisted(FUNCTION_COUNT + 1, &call, false);
    } else {
        trace_end(put(trace_begin(AGREEMENT, &call, FIXED_BYTES), meeting - 1));
    }
    unlock();
}

void trace_close(void)
{
    trace_flush();
    if (file < 0)
        return;
    size_t size = 8 + 32 * entry_count + 16;
    unsigned char *index = malloc(size);
    if (index) {
        memcpy(index, "HIDX", 4);
        out_t out = put_fixed(index + 4, entry_count, 4);
        for (size_t number = 0; number < entry_count; number++) {
            out = put_fixed(out, entries[number].start, 8);
            out = put_fixed(out, entries[number].base, 8);
            out = put_fixed(out, entries[number].calls, 8);
            out = put_fixed(out, entries[number].definitions, 8);
        }
        out = put_fixed(out, slot->offset, 8);
        memcpy(out, "HEDDLEIX", 8);
        /* The tail goes only when the trace stands. */
        if (write_at(index, size, slot->offset) && close(file) == 0)
            unlink(tail_path);
        else
            give_up(tail_path);
        free(index);
    }
    munmap(tail, TAIL_HEADER + capacity);
    tail = NULL;
    file = -1;
}

/* A program that ends without MPI_Finalize: what is there is written, without an index. */
__attribute__((destructor)) static void at_exit(void)
{
    if (file >= 0 && getpid() == owner) {
        recording = false;
        trace_flush();
    }
}
