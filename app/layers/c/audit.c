/* Watches the dynamic linker (LD_AUDIT): who asks for a library of MPI gets the one beside this
 * file, also where a path of the program (DT_RPATH, an absolute name) or another LD_LIBRARY_PATH
 * says otherwise. ALL has their names. Before glibc 2.35, calls of watched programs were slow:
 * there, nothing is watched. */
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const char *const libraries[] = {ALL};
/* The folder of this file, and behind it a name. */
static char ours[PATH_MAX];
static size_t folder;

EXPORT unsigned la_version(unsigned version)
{
    int major = 0, minor = 0;
    const char *self = getenv("LD_AUDIT");
    sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
    if (!self || major < 2 || (major == 2 && minor < 35))
        return 0;
    size_t length = strcspn(self, ":");
    if (length >= sizeof ours)
        return 0;
    memcpy(ours, self, length);
    const char *slash = strrchr(ours, '/');
    folder = slash ? (size_t)(slash - ours) + 1 : 0;
    return version;
}

EXPORT char *la_objsearch(const char *name, uintptr_t *who, unsigned flag)
{
    (void)who;
    const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name;
    if (flag != LA_SER_ORIG || folder == 0 || folder + strlen(own) >= sizeof ours)
        return (char *)name;
    for (size_t index = 0; index < sizeof libraries / sizeof *libraries; index++)
        if (!strcmp(own, libraries[index])) {
            strcpy(ours + folder, own);
            return access(ours, R_OK) ? (char *)name : ours;
        }
    return (char *)name;
}
