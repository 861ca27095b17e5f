/* What the Fortran functions of every layer are made of. */
#ifndef FORTRAN_H
#define FORTRAN_H

#include <stdbool.h>

#include "layer.h"
#include "translate.h"
#include "prototypes.h"

#define NAME(own, gives, other, parameters) \
    PUBLIC gives other parameters __attribute__((weak, alias(#own)));

/* Sentinels: variables that the executable defines, or else the library; never compared but by
 * address. */
#ifdef MPICH_SENTINELS
struct mpipriv1 {
    MPI_Fint bottom, in_place, status_ignore[5];
};
struct mpipriv2 {
    MPI_Fint statuses_ignore[5], errcodes_ignore;
};
struct mpiprivc {
    char argvs_null, argv_null;
};
extern struct mpipriv1 mpipriv1_;
extern struct mpipriv2 mpipriv2_;
extern struct mpiprivc mpiprivc_;
extern MPI_Fint mpifcmb5_, mpifcmb9_;
/* Those of mpi_f08. */
extern MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
extern MPI_Fint MPIR_F08_MPI_STATUS_IGNORE_OBJ[5], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[5];
#define F08(name) __mpi_f08_link_constants_MOD_mpi_##name
extern MPI_Fint F08(errcodes_ignore), F08(unweighted), F08(weights_empty);
extern char F08(argv_null), F08(argvs_null);
#define IS_BOTTOM(p) ((p) == (void *)&mpipriv1_.bottom || (p) == (void *)&MPIR_F08_MPI_BOTTOM)
#define IS_IN_PLACE(p) ((p) == (void *)&mpipriv1_.in_place || (p) == (void *)&MPIR_F08_MPI_IN_PLACE)
/* MPICH 4.0 has no such buffers. */
#define IS_BUFFER_AUTOMATIC(p) ((void)(p), false)
#define IS_STATUS_IGNORE(p) \
    ((p) == mpipriv1_.status_ignore || (p) == MPIR_F08_MPI_STATUS_IGNORE_OBJ)
#define IS_STATUSES_IGNORE(p) \
    ((p) == mpipriv2_.statuses_ignore || (p) == MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
#define IS_ERRCODES_IGNORE(p) ((p) == &mpipriv2_.errcodes_ignore || (p) == &F08(errcodes_ignore))
#define IS_ARGV_NULL(p) ((p) == &mpiprivc_.argv_null || (p) == &F08(argv_null))
#define IS_ARGVS_NULL(p) ((p) == &mpiprivc_.argvs_null || (p) == &F08(argvs_null))
#define IS_UNWEIGHTED(p) ((p) == &mpifcmb5_ || (p) == &F08(unweighted))
#define IS_WEIGHTS_EMPTY(p) ((p) == &mpifcmb9_ || (p) == &F08(weights_empty))

/* Fortran's keyvals of predefined attributes follow those of C, which are odd. */
UNUSED int keyval_f(MPI_Fint keyval)
{
    int predefined = (keyval & ~0xff) == 0x64400000 || (keyval & ~0xff) == 0x66000000;
    return predefined && keyval % 2 == 0 ? keyval - 1 : keyval;
}
#else
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
#define IS_BOTTOM(p) ((p) == (void *)&mpi_fortran_bottom_)
#define IS_IN_PLACE(p) ((p) == (void *)&mpi_fortran_in_place_)
#define IS_BUFFER_AUTOMATIC(p) ((p) == (void *)&mpi_fortran_buffer_automatic_)
#define IS_STATUS_IGNORE(p) ((p) == mpi_fortran_status_ignore_)
#define IS_STATUSES_IGNORE(p) ((p) == mpi_fortran_statuses_ignore_)
#define IS_ERRCODES_IGNORE(p) ((p) == &mpi_fortran_errcodes_ignore_)
#define IS_ARGV_NULL(p) ((p) == &mpi_fortran_argv_null_)
#define IS_ARGVS_NULL(p) ((p) == &mpi_fortran_argvs_null_)
#define IS_UNWEIGHTED(p) ((p) == &mpi_fortran_unweighted_)
#define IS_WEIGHTS_EMPTY(p) ((p) == &mpi_fortran_weights_empty_)

UNUSED int keyval_f(MPI_Fint keyval)
{
    return keyval;
}
#endif

/* As it is in C in all interfaces. */
#define BUFFER_AUTOMATIC ((void *)2)

UNUSED void *buffer_f(void *buffer)
{
    return IS_BOTTOM(buffer)             ? NULL
           : IS_IN_PLACE(buffer)         ? THEIR_IN_PLACE
           : IS_BUFFER_AUTOMATIC(buffer) ? BUFFER_AUTOMATIC
                                         : buffer;
}

UNUSED MPI_Status *status_f(MPI_Fint *status)
{
    return IS_STATUS_IGNORE(status) ? THEIR_STATUS_IGNORE : (MPI_Status *)status;
}

UNUSED MPI_Status *statuses_f(MPI_Fint *statuses)
{
    return IS_STATUSES_IGNORE(statuses) ? THEIR_STATUS_IGNORE : (MPI_Status *)statuses;
}

UNUSED MPI_Fint *weights_f(MPI_Fint *weights)
{
    return IS_UNWEIGHTED(weights)      ? THEIR_UNWEIGHTED
           : IS_WEIGHTS_EMPTY(weights) ? THEIR_WEIGHTS_EMPTY
                                       : weights;
}

UNUSED MPI_Fint *errcodes_f(MPI_Fint *codes)
{
    return IS_ERRCODES_IGNORE(codes) ? NULL : codes;
}

/* What a descriptor of an array begins with: its address. */
UNUSED void *base_address(void *descriptor)
{
    return *(void **)descriptor;
}

struct descriptor;

/* What a call sends or receives of an array that is handed over as a descriptor. */
struct part {
    void *address;
    MPI_Count count;
    MPI_Datatype datatype;
    /* Whether the datatype was made for it. */
    bool made;
    /* The array that the address is a copy of. */
    const struct descriptor *copied;
};

/* fortran_arrays.c */
/* `later`: the call may end before it is done with the array. */
struct part part_of(void *descriptor, MPI_Count count, MPI_Datatype datatype, bool later);
struct part part_copied(void *descriptor, bool later);
/* `changed`: the call has received into it. */
void part_end(struct part *part, bool changed);

/* fortran.c */
char *name_f(const char *text, size_t length);
char *text_f(const char *text, size_t length);
int text_limit(MPI_Fint characters, size_t length);
char *text_room(size_t length);
void text_to_fortran(char *into, size_t length, char *text, int code);
char **texts_f(const char *texts, size_t length, int count);
void texts_free(char **texts);
char ***lists_f(const char *texts, size_t length, int count);
void lists_free(char ***lists);
MPI_Aint attribute_to_fortran(int keyval, void *value);
function copy_f(function given);
function delete_f(function given);
function conversion_f(function given);
const void *use_layer(const void *layer);

/* fortran_callbacks.c: how functions written in Fortran are called. */
struct layer;
extern const struct layer fortran_layer, fortran_old_layer;

#endif
