/* What every layer is made of. `interface.h` is that of one interface: mpich.h, openmpi.h or
 * standard.h. */
#ifndef LAYER_H
#define LAYER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define WEAK extern __attribute__((weak))
#define UNUSED static inline __attribute__((unused))
/* A long function: one copy is enough, and compiles in half the time. */
#define ONCE static __attribute__((noinline, unused))
/* Tools replace MPI_X and call PMPI_X (MPI-4.1, section 15.2). */
#define ALIAS(name, gives, parameters) \
    PUBLIC gives name parameters __attribute__((weak, alias("P" #name)));

/* What our library works with: see app/libmpi/src/abi.rs. */
typedef uintptr_t handle;
typedef void (*function)(void);
typedef struct {
    int source, tag, error, internal[5];
} status_t;

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

#define CALLBACK(name) typedef void MPI_##name(void)
CALLBACK(User_function);
CALLBACK(User_function_c);
CALLBACK(Copy_function);
CALLBACK(Delete_function);
CALLBACK(Comm_copy_attr_function);
CALLBACK(Comm_delete_attr_function);
CALLBACK(Type_copy_attr_function);
CALLBACK(Type_delete_attr_function);
CALLBACK(Win_copy_attr_function);
CALLBACK(Win_delete_attr_function);
CALLBACK(Comm_errhandler_function);
CALLBACK(File_errhandler_function);
CALLBACK(Win_errhandler_function);
CALLBACK(Session_errhandler_function);
CALLBACK(Grequest_query_function);
CALLBACK(Grequest_free_function);
CALLBACK(Grequest_cancel_function);
CALLBACK(Datarep_extent_function);
CALLBACK(Datarep_conversion_function);
CALLBACK(Datarep_conversion_function_c);
CALLBACK(T_event_cb_function);
CALLBACK(T_event_free_cb_function);
CALLBACK(T_event_dropped_cb_function);

typedef void *MPI_T_enum;
typedef void *MPI_T_cvar_handle;
typedef void *MPI_T_pvar_handle;
typedef void *MPI_T_pvar_session;
typedef void *MPI_T_event_registration;
typedef void *MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;

#include "interface.h"

/* Raises MPI_ERR_UNSUPPORTED_OPERATION for a function that our library does not have. */
int missing(const char *name);

/* A function that is never there. */
#define NOT_HERE(name)                                                        \
    PUBLIC int P##name(void)                                                  \
    {                                                                         \
        return missing(#name);                                                \
    }                                                                         \
    PUBLIC int name(void) __attribute__((weak, alias("P" #name)));

/* A conversion between forms of a status that are laid out alike. */
#define STATUS_COPY(name, from_type, to_type)                                 \
    PUBLIC int PMPI_Status_##name(const from_type *from, to_type *to)         \
    {                                                                         \
        if (from == NULL || to == NULL)                                       \
            return ERR_ARG;                                                   \
        memcpy(to, from, sizeof(MPI_Status));                                 \
        return 0;                                                             \
    }                                                                         \
    ALIAS(MPI_Status_##name, int, (const from_type *from, to_type *to))

#endif
