/* What a C++ program compiled with Open MPI 4's header needs even if it uses none of the C++
 * interface (which MPI-3.0 removed): four functions that the header's inline ones refer to, under
 * the names C++ gives them. */
#include "layer.h"
#include "prototypes.h"

/* Objects of that interface: a table of virtual functions, then the handle. */
struct communicator_object {
    void *functions;
    MPI_Comm handle;
};
struct type_object {
    void *functions;
    MPI_Datatype handle;
};
struct window_object {
    void *functions;
    MPI_Win handle;
};

/* MPI::Comm::Comm() */
PUBLIC void _ZN3MPI4CommC2Ev(struct communicator_object *object)
{
    object->handle = comm_out(0x100);
}

/* MPI::Datatype::Free() */
PUBLIC void _ZN3MPI8Datatype4FreeEv(struct type_object *object)
{
    PMPI_Type_free(&object->handle);
}

/* MPI::Win::Free() */
PUBLIC void _ZN3MPI3Win4FreeEv(struct window_object *object)
{
    PMPI_Win_free(&object->handle);
}

/* Reductions of a program of that interface (MPI::Op::Init) would be called through these two. */
static void refuse(void)
{
    fprintf(stderr, "heddle: MPI::Op::Init, of the C++ interface that MPI-3.0 removed, is not "
                    "served\n");
    abort();
}

PUBLIC void ompi_mpi_cxx_op_intercept(void *from, void *into, int *count, MPI_Datatype *type,
                                      function call)
{
    (void)from, (void)into, (void)count, (void)type, (void)call;
    refuse();
}

PUBLIC void ompi_op_set_cxx_callback(MPI_Op op, function call)
{
    (void)op, (void)call;
    refuse();
}
