/* Helpers of the layers that translate; the values themselves are in values.h. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

/* What our library did not write. */
#define UNTOUCHED ((int)0xa5a5a5a5)
#define UNTOUCHED_HANDLE ((handle)0xa5a5a5a5a5a5a5a5)
/* A handle that is none, and a mode bit that is none. */
#define INVALID ((handle)0xfff)
#define NO_BIT (1 << 30)
/* The first handle of what a program makes. */
#define FIRST ((handle)0x1000)

/* A number that is no constant: a negative one must not become one of ours. */
UNUSED int other(int value)
{
    return value < 0 ? value - 1000 : value;
}

/* A number that should have been a constant. */
UNUSED int none(int value)
{
    (void)value;
    return -30000;
}

/* Neither this nor that, in every interface. */
#define UNDEFINED (-32766)

/* Error codes behind the last one of our library, and behind the last one of the program's
 * interface. */
#define LAST_CODE 0x3fff
#ifndef LAST_CODE_THERE
#define LAST_CODE_THERE LAST_CODE
#endif
UNUSED int code_in(int value)
{
    return value >= LAST_CODE_THERE ? value - LAST_CODE_THERE + LAST_CODE : other(value);
}
UNUSED int code_out(int value)
{
    return value >= LAST_CODE ? value - LAST_CODE + LAST_CODE_THERE : value;
}

/* A list on our side, on the stack if it is short; of length 0 if the program gave none. */
enum { FEW = 32 };
#define LIST(type, name, given, length)                                               \
    type name##_few[FEW], *name = name##_few;                                         \
    MPI_Count n_##name = (given) ? (MPI_Count)(length) : 0;                            \
    if (n_##name < 0)                                                                 \
        n_##name = 0;                                                                 \
    if (n_##name > FEW)                                                               \
        name = room((size_t)n_##name * sizeof *name)
#define RELEASE(name)         \
    if (name != name##_few)   \
        free(name)

UNUSED void *room(size_t bytes)
{
    void *made = malloc(bytes);
    if (!made) {
        fprintf(stderr, "heddle: no memory for the arguments of a call of MPI\n");
        abort();
    }
    return made;
}

/* A status that our library need not write in full. */
UNUSED void status_blank(status_t *status)
{
    memset(status, 0, sizeof *status);
    status->source = status->error = UNTOUCHED;
}

/* Shortens a text to what fits into the program's memory. */
UNUSED void text_out(char *into, const char *text, int limit)
{
    if (into) {
        size_t length = strnlen(text, (size_t)limit - 1);
        memcpy(into, text, length);
        into[length] = 0;
    }
}

UNUSED void length_out(int *length, int limit)
{
    if (length && *length >= limit)
        *length = limit - 1;
}

/* Lengths of arguments that the call does not say (lengths.c). */
int peers(handle comm);
int in_degree(handle comm);
int out_degree(handle comm);
int at_root(handle comm, int root);
void errcodes_out(int *codes);

/* Values of attributes and contents of datatypes that are constants (common.c). */
void attribute_out(int keyval, void *value);
void contents_out(handle type, int *integers);

#endif
