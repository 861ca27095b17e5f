/* As interpreters do: what is opened, and MPI with it, is for nobody else to see. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*program)(void) = library ? (int (*)(void))dlsym(library, "program") : NULL;
    if (!program) printf("%s\n", dlerror());
    return program ? program() : 1;
}
