/* The component: its parameters, and the module, which passes on to r2. */

#include "heddle_bml.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ompi/mca/rte/rte.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/util/output.h"

/* Messages of the component's own that are under way at the end are waited for so long, in
 * nanoseconds. */
#define SETTLES 500e6

struct heddle_state heddle;
opal_mutex_t heddle_lock = OPAL_MUTEX_STATIC_INIT;

static void *library;
static mca_bml_base_component_t *r2_component;
static mca_bml_base_module_t *r2;

static int open_component(void);
static int close_component(void);
static int register_parameters(void);
static mca_bml_base_module_t *init(int *priority, bool progress_threads, bool mpi_threads);

OMPI_MODULE_DECLSPEC mca_bml_base_component_t mca_bml_heddle_component = {
    .bml_version = {
        MCA_BML_BASE_VERSION_2_0_0,
        .mca_component_name = "heddle",
        MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                              OMPI_RELEASE_VERSION),
        .mca_open_component = open_component,
        .mca_close_component = close_component,
        .mca_register_component_params = register_parameters,
    },
    .bml_data = { MCA_BASE_METADATA_PARAM_NONE },
    .bml_init = init,
};

static void say(const char *kind, const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    opal_output(0, "heddle: %s: %s", kind, text);
}

int heddle_fatal(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", format, arguments);
    va_end(arguments);
    ompi_rte_abort(1, NULL);
    return OMPI_ERROR;
}

void heddle_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("warning", format, arguments);
    va_end(arguments);
}

double heddle_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The value of a parameter btl_COMPONENT_NAME of Open MPI's that is a text; NULL without one. */
const char *heddle_choice(const char *component, const char *name)
{
    char *const *value = NULL;
    int index = mca_base_var_find("opal", "btl", component, name);
    if (index < 0 || mca_base_var_get_value(index, &value, NULL, NULL) != OPAL_SUCCESS || !value)
        return NULL;
    return *value;
}

/* Parameters are called bml_heddle_NAME, as Open MPI calls those of components, and also
 * heddle_bml_NAME. */
static void parameter(const char *name, const char *help, mca_base_var_type_t type, void *storage)
{
    int index = mca_base_component_var_register(&mca_bml_heddle_component.bml_version, name, help,
                                                type, NULL, 0, 0, OPAL_INFO_LVL_3,
                                                MCA_BASE_VAR_SCOPE_READONLY, storage);
    if (index >= 0)
        mca_base_var_register_synonym(index, "ompi", "heddle", "bml", name, 0);
}

static int register_parameters(void)
{
    heddle.policy = "vft";
    heddle.parameters = NULL;
    heddle.cache = NULL;
    heddle.cache_hours = 24;
    heddle.shared = 1;
    heddle.summary = 0;
    heddle.always = 0;
    heddle.limit = 128 * 1024;
    parameter("policy", "Which rail a message takes: vft (the earliest delivery), ecf, "
              "round-robin, round-robin-destination, weighted, wfq, "
              "vft-4.4.1 to vft-4.4.5, single:NAME",
              MCA_BASE_VAR_TYPE_STRING, &heddle.policy);
    parameter("parameters", "A machine file whose tables [rail.NAME] describe the rails, in the "
              "order of Open MPI's modules; without it they are measured, or taken from the cache",
              MCA_BASE_VAR_TYPE_STRING, &heddle.parameters);
    parameter("cache", "The folder in which measured parameters are kept; none keeps nothing; "
              "default: heddle in the user's cache folder", MCA_BASE_VAR_TYPE_STRING,
              &heddle.cache);
    parameter("cache_hours", "How long measured parameters hold, in hours",
              MCA_BASE_VAR_TYPE_INT, &heddle.cache_hours);
    parameter("shared", "1: the ranks of a host share what they know of how busy rails are; 0: "
              "each knows only of its own messages", MCA_BASE_VAR_TYPE_INT, &heddle.shared);
    parameter("limit", "Bytes to a process that may be unconfirmed on a rail, beside what it takes "
              "in two round trips, before messages take others; 0 sets no limit",
              MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &heddle.limit);
    parameter("summary", "1: at the end each rank prints its messages and bytes by rail",
              MCA_BASE_VAR_TYPE_INT, &heddle.summary);
    parameter("always", "1: processes that one module leads to go through the scheduler, too, to "
              "measure what it costs", MCA_BASE_VAR_TYPE_INT, &heddle.always);
    return OMPI_SUCCESS;
}

/* Looks for the component r2 where Open MPI looks for components. */
static int open_component(void)
{
    char path[4096];
    const char *from = mca_base_component_path;
    const char *asked = ompi_bml_base_framework.framework_selection;
    /* It stands in the place of r2, and only for those who ask for it. */
    if (!asked || strcmp(asked, "heddle") != 0)
        return OMPI_ERR_NOT_AVAILABLE;
    while (from && *from && !library) {
        int length = (int)strcspn(from, ":");
        const char *rest = from[length] ? from + length + 1 : NULL;
        snprintf(path, sizeof path, "%.*s/mca_bml_r2.so", length, from);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        from = rest;
    }
    if (library)
        r2_component = dlsym(library, "mca_bml_r2_component");
    if (!r2_component) {
        heddle_warn("there is no component mca_bml_r2.so, which sets up the modules, in %s; is "
                    "Open MPI's own folder in mca_base_component_path?", mca_base_component_path);
        return OMPI_ERR_NOT_FOUND;
    }
    if (r2_component->bml_version.mca_register_component_params)
        r2_component->bml_version.mca_register_component_params();
    return r2_component->bml_version.mca_open_component
               ? r2_component->bml_version.mca_open_component()
               : OMPI_SUCCESS;
}

static int close_component(void)
{
    if (r2_component && r2_component->bml_version.mca_close_component)
        return r2_component->bml_version.mca_close_component();
    return OMPI_SUCCESS;
}

static int add_proc(ompi_proc_t *proc)
{
    int code = r2->bml_add_proc(proc);
    return code == OMPI_SUCCESS ? heddle_attach(proc) : code;
}

static int add_procs(size_t count, ompi_proc_t **procs, struct opal_bitmap_t *reachable)
{
    int code = r2->bml_add_procs(count, procs, reachable);
    if (code != OMPI_SUCCESS)
        return code;
    if (!heddle.started) {
        heddle.started = true;
        if ((code = heddle_find_modules()) != OMPI_SUCCESS
            || (code = heddle_start()) != OMPI_SUCCESS)
            return code;
    }
    for (size_t at = 0; at < count && code == OMPI_SUCCESS; at++)
        code = heddle_attach(procs[at]);
    return code;
}

static int del_procs(size_t count, ompi_proc_t **procs)
{
    double end = heddle_now() + SETTLES;
    heddle.ends = true;
    for (size_t at = 0; at < count; at++)
        heddle_settle(procs[at], end);
    for (size_t at = 0; at < count; at++)
        heddle_detach(procs[at]);
    heddle.ends = false;
    return r2->bml_del_procs(count, procs);
}

static int del_proc_btl(ompi_proc_t *proc, mca_btl_base_module_t *btl)
{
    heddle_remove(proc, btl);
    return r2->bml_del_proc_btl(proc, btl);
}

static int register_receiver(mca_btl_base_tag_t tag, mca_btl_base_module_recv_cb_fn_t callback,
                             void *data)
{
    return r2->bml_register(tag, heddle_receiver(tag, callback), data);
}

static mca_btl_base_module_error_cb_fn_t layer_above;

/* A module has failed: the layer above ends the job; the user should know which rail it was. */
static void failed(mca_btl_base_module_t *btl, int32_t flags, struct opal_proc_t *proc, char *info)
{
    for (unsigned rail = 0; rail < heddle.count; rail++)
        if (heddle.modules[rail].btl == btl)
            heddle_warn("rail %s has failed%s%s", heddle.modules[rail].name, info ? ": " : "",
                        info ? info : "");
    layer_above(btl, flags, proc, info);
}

static int register_error(mca_btl_base_module_error_cb_fn_t callback)
{
    layer_above = callback;
    return r2->bml_register_error(failed);
}

static int finalize(void)
{
    if (heddle.summary)
        for (unsigned rail = 0; rail < heddle.count; rail++) {
            const struct heddle_module *module = &heddle.modules[rail];
            opal_output(0,
                        "heddle: rail %s: %llu messages, %llu bytes; %llu kept from it; "
                        "%llu parts of large ones, %llu bytes",
                        module->name, module->messages, module->bytes, module->passed,
                        module->parts, module->part_bytes);
        }
    heddle_confirm_stop();
    heddle_host_free(heddle.host);
    heddle_host_free(heddle.incoming);
    heddle.host = heddle.incoming = NULL;
    return r2->bml_finalize();
}

static void counter(unsigned rail, const char *what, const char *help, void *value)
{
    char name[64];
    snprintf(name, sizeof name, "rail%u_%s", rail, what);
    mca_base_component_pvar_register(
        &mca_bml_heddle_component.bml_version, name, help, OPAL_INFO_LVL_4,
        MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        MCA_BASE_VAR_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
        NULL, NULL, NULL, value);
}

static void count_rails(void)
{
    for (unsigned rail = 0; rail < HEDDLE_MOST_RAILS; rail++) {
        counter(rail, "messages", "Messages that took the rail", &heddle.modules[rail].messages);
        counter(rail, "bytes", "Bytes of messages that took the rail", &heddle.modules[rail].bytes);
        counter(rail, "passed", "Messages that the limit of unconfirmed bytes kept from the rail",
                &heddle.modules[rail].passed);
        counter(rail, "parts", "Parts of large messages that took the rail",
                &heddle.modules[rail].parts);
        counter(rail, "part_bytes", "Bytes of parts of large messages that took the rail",
                &heddle.modules[rail].part_bytes);
    }
}

static mca_bml_base_module_t *init(int *priority, bool progress_threads, bool mpi_threads)
{
    static mca_bml_base_module_t module;
    r2 = r2_component->bml_init(priority, progress_threads, mpi_threads);
    if (!r2)
        return NULL;
    count_rails();
    module = *r2;
    module.bml_component = &mca_bml_heddle_component;
    module.bml_add_proc = add_proc;
    module.bml_add_procs = add_procs;
    module.bml_del_procs = del_procs;
    module.bml_del_proc_btl = del_proc_btl;
    module.bml_register = register_receiver;
    module.bml_register_error = register_error;
    module.bml_finalize = finalize;
    return &module;
}
