/* The part of the Fortran interface that is written by hand: texts, sentinels, predefined
 * functions, and calls of MPI-1 whose Fortran form has integers where C has addresses. */
#include "fortran.h"

/* The sentinels, unless the executable has them. */
#ifdef MPICH_SENTINELS
PUBLIC struct mpipriv1 mpipriv1_;
PUBLIC struct mpipriv2 mpipriv2_;
PUBLIC struct mpiprivc mpiprivc_;
PUBLIC MPI_Fint mpifcmb5_, mpifcmb9_;
PUBLIC MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
PUBLIC MPI_Fint MPIR_F08_MPI_STATUS_IGNORE_OBJ[5], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[5];
PUBLIC MPI_Fint F08(errcodes_ignore), F08(unweighted), F08(weights_empty);
PUBLIC char F08(argv_null), F08(argvs_null);
#else
PUBLIC MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_status_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)],
    mpi_fortran_statuses_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)];
PUBLIC char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
#endif

extern const void *heddle_use_layer(const void *) __attribute__((weak));

const void *use_layer(const void *layer)
{
    return heddle_use_layer ? heddle_use_layer(layer) : NULL;
}

/* A text without the blanks behind it. */
char *name_f(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    char *made = room(length + 1);
    memcpy(made, text, length);
    made[length] = 0;
    return made;
}

/* A text without the blanks before and behind it. */
char *text_f(const char *text, size_t length)
{
    while (length > 0 && *text == ' ')
        text++, length--;
    return name_f(text, length);
}

/* How many characters C may write, with its terminator, where Fortran wants so many; 0 if it wants
 * none. */
int text_limit(MPI_Fint characters, size_t length)
{
    if (characters <= 0)
        return characters;
    return (size_t)characters < length ? characters + 1 : (int)length + 1;
}

/* Room for a text that C writes, whatever it thinks the limit is. */
enum { LONGEST = 8192 };
char *text_room(size_t length)
{
    char *made = room(length + LONGEST);
    *made = 0;
    return made;
}

void text_to_fortran(char *into, size_t length, char *text, int code)
{
    if (!code) {
        size_t written = strnlen(text, length);
        memcpy(into, text, written);
        memset(into + written, ' ', length - written);
    }
    free(text);
}

static bool blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ')
            return false;
    return true;
}

/* As many texts as said, or up to a blank one, of which each stands so many texts behind the one
 * before. */
static char **list_f(const char *texts, size_t length, int count, size_t apart)
{
    size_t step = apart * length;
    if (count < 0)
        for (count = 0; !blank(texts + (size_t)count * step, length); count++)
            ;
    char **made = room(((size_t)count + 1) * sizeof *made);
    for (int i = 0; i < count; i++)
        made[i] = text_f(texts + (size_t)i * step, length);
    made[count] = NULL;
    return made;
}

char **texts_f(const char *texts, size_t length, int count)
{
    return IS_ARGV_NULL(texts) ? NULL : list_f(texts, length, count, 1);
}

/* The lists of an array whose rows they are, up to a blank text each. */
char ***lists_f(const char *texts, size_t length, int count)
{
    if (IS_ARGVS_NULL(texts))
        return NULL;
    char ***made = room(((size_t)count + 1) * sizeof *made);
    for (int i = 0; i < count; i++)
        made[i] = list_f(texts + (size_t)i * length, length, -1, (size_t)count);
    made[count] = NULL;
    return made;
}

void lists_free(char ***lists)
{
    for (char ***list = lists; list && *list; list++)
        texts_free(*list);
    free(lists);
}

void texts_free(char **texts)
{
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

/* Predefined attributes are integers behind an address in C, and integers in Fortran. */
enum { TAG_UB = 501, UNIVERSE_SIZE = 507, WIN_DISP_UNIT = 602, WIN_SIZE, WIN_CREATE_FLAVOR,
    WIN_MODEL };
MPI_Aint attribute_to_fortran(int keyval, void *value)
{
    int key = keyval_in(keyval_f(keyval));
    if (value == NULL)
        return 0;
    if (key == WIN_SIZE)
        return *(MPI_Aint *)value;
    if ((key >= TAG_UB && key <= UNIVERSE_SIZE) || (key >= WIN_DISP_UNIT && key <= WIN_MODEL))
        return *(int *)value;
    return (MPI_Aint)value;
}

/* Predefined attribute functions. Programs only name them; calling them does what they say. In
 * `mpi_f08` they have names of their own, whose addresses a program may know by another value than
 * this library does. */
#define IN_MODULE(name) __mpi_f08_callbacks_MOD_##name
#define COPY(name, value)                                                                          \
    PUBLIC void name##_(MPI_Fint *of, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *old, \
                        MPI_Aint *made, MPI_Fint *flag, MPI_Fint *ierror) \
    {                                                                                              \
        (void)of, (void)keyval, (void)extra;                                                       \
        *flag = value;                                                                             \
        if (value)                                                                                 \
            *made = *old;                                                                          \
        *ierror = 0;                                                                               \
    }                                                                                              \
    NAME(name##_, void, IN_MODULE(name),                                                           \
         (MPI_Fint *of, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *old, MPI_Aint *made,          \
          MPI_Fint *flag, MPI_Fint *ierror))
#define DELETE(name)                                                                             \
    PUBLIC void name##_(MPI_Fint *of, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra,        \
                        MPI_Fint *ierror)                                                        \
    {                                                                                            \
        (void)of, (void)keyval, (void)value, (void)extra;                                        \
        *ierror = 0;                                                                             \
    }                                                                                            \
    NAME(name##_, void, IN_MODULE(name),                                                         \
         (MPI_Fint *of, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra, MPI_Fint *ierror))
COPY(mpi_null_copy_fn, 0)
COPY(mpi_comm_null_copy_fn, 0)
COPY(mpi_type_null_copy_fn, 0)
COPY(mpi_win_null_copy_fn, 0)
COPY(mpi_dup_fn, 1)
COPY(mpi_comm_dup_fn, 1)
COPY(mpi_type_dup_fn, 1)
COPY(mpi_win_dup_fn, 1)
DELETE(mpi_null_delete_fn)
DELETE(mpi_comm_null_delete_fn)
DELETE(mpi_type_null_delete_fn)
DELETE(mpi_win_null_delete_fn)

PUBLIC void mpi_conversion_fn_null_(void)
{
}
NAME(mpi_conversion_fn_null_, void, IN_MODULE(mpi_conversion_fn_null), (void))
NAME(mpi_conversion_fn_null_, void, IN_MODULE(mpi_conversion_fn_null_c), (void))

#define IS(name) (given == (function)name##_ || given == (function)IN_MODULE(name))

function copy_f(function given)
{
    if (IS(mpi_null_copy_fn) || IS(mpi_comm_null_copy_fn) || IS(mpi_type_null_copy_fn) ||
        IS(mpi_win_null_copy_fn))
        return THEIR_NULL_COPY_FN;
    if (IS(mpi_dup_fn) || IS(mpi_comm_dup_fn) || IS(mpi_type_dup_fn) || IS(mpi_win_dup_fn))
        return THEIR_DUP_FN;
    return given;
}

function delete_f(function given)
{
    bool nothing = IS(mpi_null_delete_fn) || IS(mpi_comm_null_delete_fn) ||
                   IS(mpi_type_null_delete_fn) || IS(mpi_win_null_delete_fn);
    return nothing ? THEIR_NULL_DELETE_FN : given;
}

function conversion_f(function given)
{
    bool nothing = IS(mpi_conversion_fn_null) || given
        == (function)IN_MODULE(mpi_conversion_fn_null_c);
    return nothing ? NULL : given;
}

/* The names of a call: with and without p, and with a second underscore, as some compilers want. */
#define BOTH(name, parameters)                                              \
    PUBLIC void name parameters __attribute__((weak, alias("p" #name)));    \
    PUBLIC void name##_ parameters __attribute__((weak, alias("p" #name))); \
    PUBLIC void p##name##_ parameters __attribute__((weak, alias("p" #name)));

/* Calls of MPI-1 with integers for addresses and attributes. */
PUBLIC void pmpi_address_(void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint at = 0;
    *ierror = PMPI_Get_address(buffer_f(location), &at);
    *address = (MPI_Fint)at;
}
BOTH(mpi_address_, (void *location, MPI_Fint *address, MPI_Fint *ierror))

PUBLIC void pmpi_attr_put_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierror)
{
    const void *before = use_layer(&fortran_old_layer);
    *ierror = PMPI_Attr_put(comm_from_fortran(*comm), *keyval, (void *)(MPI_Aint)*value);
    use_layer(before);
}
BOTH(mpi_attr_put_, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierror))

PUBLIC void pmpi_attr_get_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag,
                           MPI_Fint *ierror)
{
    void *found = NULL;
    const void *before = use_layer(&fortran_old_layer);
    *ierror = PMPI_Attr_get(comm_from_fortran(*comm), keyval_f(*keyval), &found, flag);
    use_layer(before);
    if (!*ierror && *flag)
        *value = (MPI_Fint)attribute_to_fortran(*keyval, found);
}
BOTH(mpi_attr_get_,
     (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror))

PUBLIC void pmpi_keyval_create_(function copy, function delete, MPI_Fint *keyval, MPI_Fint *extra,
                                MPI_Fint *ierror)
{
    const void *before = use_layer(&fortran_old_layer);
    *ierror = PMPI_Keyval_create((void *)copy_f(copy), (void *)delete_f(delete), keyval,
                                 (void *)(MPI_Aint)*extra);
    use_layer(before);
}
BOTH(mpi_keyval_create_,
     (function copy, function delete, MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *ierror))

/* Of a type, its extent and its bounds. */
#define BOUND(which, value)                                                                        \
    PUBLIC void pmpi_type_##which##_(MPI_Fint *type, MPI_Fint *found, MPI_Fint *ierror)            \
    {                                                                                              \
        MPI_Aint lower = 0, extent = 0;                                                            \
        *ierror = PMPI_Type_get_extent(type_from_fortran(*type), &lower, &extent);                 \
        if (!*ierror)                                                                              \
            *found = (MPI_Fint)(value);                                                            \
    }                                                                                              \
    BOTH(mpi_type_##which##_, (MPI_Fint *type, MPI_Fint *found, MPI_Fint *ierror))

BOUND(extent, extent)
BOUND(lb, lower)
BOUND(ub, lower + extent)

PUBLIC void pmpi_type_hvector_(MPI_Fint *count, MPI_Fint *length, MPI_Fint *stride, MPI_Fint *old,
                               MPI_Fint *made, MPI_Fint *ierror)
{
    MPI_Datatype type;
    *ierror = PMPI_Type_create_hvector(*count, *length, *stride, type_from_fortran(*old), &type);
    if (!*ierror)
        *made = type_to_fortran(type);
}
BOTH(mpi_type_hvector_, (MPI_Fint *count, MPI_Fint *length, MPI_Fint *stride, MPI_Fint *old,
                         MPI_Fint *made, MPI_Fint *ierror))

PUBLIC void pmpi_type_hindexed_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements,
                                MPI_Fint *old, MPI_Fint *made, MPI_Fint *ierror)
{
    MPI_Datatype type;
    LIST(MPI_Aint, bytes, displacements, *count);
    for (MPI_Count i = 0; i < n_bytes; i++)
        bytes[i] = displacements[i];
    *ierror = PMPI_Type_create_hindexed(*count, lengths, bytes, type_from_fortran(*old), &type);
    if (!*ierror)
        *made = type_to_fortran(type);
    RELEASE(bytes);
}
BOTH(mpi_type_hindexed_,
     (MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements, MPI_Fint *old,
                          MPI_Fint *made, MPI_Fint *ierror))

PUBLIC void pmpi_type_struct_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements,
                              MPI_Fint *types, MPI_Fint *made, MPI_Fint *ierror)
{
    MPI_Datatype type;
    LIST(MPI_Aint, bytes, displacements, *count);
    LIST(MPI_Datatype, of, types, *count);
    for (MPI_Count i = 0; i < n_of; i++) {
        bytes[i] = displacements[i];
        of[i] = type_from_fortran(types[i]);
    }
    *ierror = PMPI_Type_create_struct(*count, lengths, bytes, of, &type);
    if (!*ierror)
        *made = type_to_fortran(type);
    RELEASE(of);
    RELEASE(bytes);
}
BOTH(mpi_type_struct_,
     (MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements, MPI_Fint *types,
                        MPI_Fint *made, MPI_Fint *ierror))

int PMPI_Pcontrol(const int level, ...);
PUBLIC void pmpi_pcontrol_(MPI_Fint *level)
{
    PMPI_Pcontrol(*level);
}
BOTH(mpi_pcontrol_, (MPI_Fint *level))
NAME(pmpi_pcontrol_, void, mpi_pcontrol_f08_, (MPI_Fint *level))
NAME(pmpi_pcontrol_, void, pmpi_pcontrol_f08_, (MPI_Fint *level))

/* Keeps the compiler from holding a variable in a register; there is nothing else to do. */
PUBLIC void pmpi_f_sync_reg_(void *buffer)
{
    (void)buffer;
}
BOTH(mpi_f_sync_reg_, (void *buffer))
NAME(pmpi_f_sync_reg_, void, mpi_f_sync_reg_f08_, (void *buffer))
NAME(pmpi_f_sync_reg_, void, pmpi_f_sync_reg_f08_, (void *buffer))
NAME(pmpi_f_sync_reg_, void, mpi_f_sync_reg_f08ts_, (void *buffer))
NAME(pmpi_f_sync_reg_, void, pmpi_f_sync_reg_f08ts_, (void *buffer))

/* Both forms of a status are laid out alike. */
#define STATUS_WORDS (sizeof(MPI_Status) / sizeof(MPI_Fint))
#define STATUS_MOVE(name)                                                      \
    PUBLIC void pmpi_status_##name##_(MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror) \
    {                                                                          \
        memcpy(to, from, STATUS_WORDS * sizeof *to);                           \
        if (ierror)                                                            \
            *ierror = 0;                                                       \
    }                                                                          \
    BOTH(mpi_status_##name##_, (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)) \
    NAME(pmpi_status_##name##_, void, mpi_status_##name##_f08_, \
         (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)) \
    NAME(pmpi_status_##name##_, void, pmpi_status_##name##_f08_, \
         (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror))
STATUS_MOVE(f2f08)
STATUS_MOVE(f082f)
#ifdef F08_TYPES
NAME(pmpi_status_f2f08_, void, F08_TYPES(mpi_status_f2f08),
     (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror))
NAME(pmpi_status_f082f_, void, F08_TYPES(mpi_status_f082f),
     (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror))
#endif

/* Comparisons of handles in mpi_f08, which are integers. */
#ifdef F08_EQUAL
#define COMPARISONS(kind)                                     \
    PUBLIC MPI_Fint F08_EQUAL(kind)(MPI_Fint *a, MPI_Fint *b) \
    {                                                         \
        return *a == *b;                                      \
    }                                                         \
    PUBLIC MPI_Fint F08_UNEQUAL(kind)(MPI_Fint *a, MPI_Fint *b) \
    {                                                         \
        return *a != *b;                                      \
    }
COMPARISONS(comm)
COMPARISONS(datatype)
COMPARISONS(errhandler)
COMPARISONS(file)
COMPARISONS(group)
COMPARISONS(info)
COMPARISONS(message)
COMPARISONS(op)
COMPARISONS(request)
COMPARISONS(win)
#endif
