/* How our library calls back functions of a program: the struct is that of app/libmpi/src/layer.rs,
 * where each entry's duty stands. */
#ifndef CALLBACKS_H
#define CALLBACKS_H

#include "layer.h"

struct layer {
    size_t version;
    const char *name;
    void (*reduce)(function, int, void *, void *, int64_t, handle);
    int (*copy_attribute)(int, function, handle, int, void *, void *, void **, int *);
    int (*delete_attribute)(int, function, handle, int, void *, void *);
    void (*handle_error)(int, function, handle, int *);
    int (*query)(function, void *, status_t *);
    int (*free)(function, void *);
    int (*cancel)(function, void *, int);
    int (*extent)(function, handle, MPI_Aint *, void *);
    int (*convert)(function, int, void *, handle, int64_t, void *, int64_t, void *);
    int attributes;
};
enum { VERSION = 2 };
/* How attributes are set and read: as pointers, integers as wide as addresses, or integers. */
enum attributes { AS_POINTERS, AS_ADDRESSES, AS_INTEGERS };
enum about { ABOUT_COMM, ABOUT_TYPE, ABOUT_WIN, ABOUT_FILE, ABOUT_SESSION };

#endif
