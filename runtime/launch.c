/* launch.c: from a call to the device.
**
** kg_launch is a straight list: choose the port, check the call (bind.c), plan the grid, take
** the loaded function from the cache, lay out the arguments, launch.  A refusal comes before
** anything is compiled. */
#include <string.h>

#include "bind.h"
#include "cache.h"
#include "device.h"
#include "model/block.h"

/* ---- the grid -------------------------------------------------------------------------------- */

static const char axis_name[] = "xyz";

/* The size of the grid or of a group on one axis. */
static kg_status extent(const kg_bound *bound, const kg_port *port, const kg_expr *expr,
                        const char *what, int axis, int64_t *value, kg_error *error) {
  const char *const kernel = bound->instance.kernel->name;
  const kg_expr_status status = kg_expr_eval(expr, &bound->values, value);
  if (status == KG_EXPR_OVERFLOW) {
    return kg_fail(error, KG_TOO_LARGE, "%s: the %s on axis %c, %s, pass 64 bits; split the call",
                   kernel, what, axis_name[axis], expr->text);
  }
  if (status || *value < 0) {
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: the %s of its %s port on axis %c, %s, %s", kernel,
                   what, port->backend, axis_name[axis], expr->text,
                   status ? kg_expr_status_text(status) : "come to less than none");
  }
  return KG_OK;
}

static const char *fallback(const kg_kernel *k) {
  return k->ports->fallback && *k->ports->fallback ? k->ports->fallback : "none is given";
}

static kg_status plan_groups(const kg_device *device, const kg_bound *bound, const kg_port *port,
                             kg_grid *grid, kg_error *error) {
  const kg_kernel *const k = bound->instance.kernel;
  for (int axis = 0; axis < 3; axis++) {
    int64_t groups;
    const kg_status status =
        extent(bound, port, &port->groups[axis], "groups", axis, &groups, error);
    if (status) return status;
    uint64_t most = device->limits.groups[axis];
    if (most == 0 || most > UINT32_MAX) most = UINT32_MAX;
    if ((uint64_t)groups > most) {
      return kg_fail(
          error, KG_TOO_LARGE,
          "%s: its %lld groups on axis %c (%s) pass the %llu of device %s; split the call, or use "
          "the fallback: %s",
          k->name, (long long)groups, axis_name[axis], port->groups[axis].text,
          (unsigned long long)most, device->name, fallback(k));
    }
    if (groups == 0) {
      return kg_fail(error, KG_BAD_SHAPE,
                     "%s: there are elements to write, but no group on axis %c (%s is 0)", k->name,
                     axis_name[axis], port->groups[axis].text);
    }
    grid->groups[axis] = (uint32_t)groups;
  }
  return KG_OK;
}

static kg_status plan_threads(const kg_device *device, const kg_bound *bound, const kg_port *port,
                              kg_grid *grid, kg_error *error) {
  const kg_kernel *const k = bound->instance.kernel;
  const uint32_t most = device->limits.threads ? device->limits.threads : UINT32_MAX;
  uint64_t all = 1;
  for (int axis = 0; axis < 3; axis++) {
    int64_t threads;
    const kg_status status =
        extent(bound, port, &port->threads[axis], "threads", axis, &threads, error);
    if (status) return status;
    if (threads == 0) {
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "%s: a group of its %s port has no threads on axis %c (%s)", k->name,
                     port->backend, axis_name[axis], port->threads[axis].text);
    }
    /* all <= most < 2^32 before; a factor over most is as bad as itself, and keeps the product
    ** in 64 bits */
    all *= (uint64_t)threads > most ? (uint64_t)most + 1 : (uint64_t)threads;
    if (all > most) {
      return kg_fail(
          error, KG_LIMIT,
          "%s: its groups of %s x %s x %s threads pass the %u of device %s; use the fallback: %s",
          k->name, port->threads[0].text, port->threads[1].text, port->threads[2].text, most,
          device->name, fallback(k));
    }
    grid->threads[axis] = (uint32_t)threads;
  }
  return KG_OK;
}

static kg_status plan_shared(const kg_device *device, const kg_kernel *k, const kg_port *port,
                             kg_grid *grid, kg_error *error) {
  grid->shared_bytes = 0; /* the text declares all of it */
  if (device->limits.shared_bytes == 0 || port->shared_bytes <= device->limits.shared_bytes)
    return KG_OK;
  return kg_fail(
      error, KG_LIMIT,
      "%s: a group takes %u bytes of shared memory, and device %s has %u; use the fallback: %s",
      k->name, port->shared_bytes, device->name, device->limits.shared_bytes, fallback(k));
}

static kg_status plan(const kg_device *device, const kg_bound *bound, const kg_port *port,
                      kg_grid *grid, kg_error *error) {
  kg_status status = plan_groups(device, bound, port, grid, error);
  if (!status) status = plan_threads(device, bound, port, grid, error);
  if (!status) status = plan_shared(device, bound->instance.kernel, port, grid, error);
  return status;
}

/* ---- the argument block ---------------------------------------------------------------------- */

typedef struct Block {
  _Alignas(8) unsigned char bytes[KG_MAX_BLOCK];
  uint32_t size;
} Block;

_Static_assert(sizeof(void *) == 8, "device addresses are 8 bytes, and are kept in host pointers");
_Static_assert(sizeof(kg_scalar) == 4, "a scalar is four bytes in the argument block");

static void lay_out(const kg_call *call, const kg_bound *bound, Block *block) {
  kg_block_field fields[KG_MAX_FIELDS];
  const int count = kg_block_layout(call->kernel, fields, &block->size);
  memset(block->bytes, 0, block->size);
  for (int i = 0; i < count; i++) {
    const kg_symbol s = fields[i].symbol;
    unsigned char *const to = block->bytes + fields[i].offset;
    if (s.kind == KG_DIM) {
      const uint32_t dim = (uint32_t)bound->values.value[s.index]; /* bind.c saw that it fits */
      memcpy(to, &dim, sizeof dim);
    } else if (s.kind == KG_SCALAR) {
      memcpy(to, &call->scalars[s.index], fields[i].bytes);
    } else {
      memcpy(to, &call->tensors[s.index].data, fields[i].bytes);
    }
  }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static kg_status launch(kg_device *device, const kg_call *call, kg_error *error) {
  kg_status status = kg_call_check(call, error);
  if (status) return status;
  const kg_port *port;
  status = kg_select_port(call->kernel->ports, device, &port, error);
  if (status) return status;
  kg_bound bound;
  status = kg_bind(call, device, &bound, error);
  if (status || bound.empty) return status;
  kg_grid grid;
  status = plan(device, &bound, port, &grid, error);
  if (status) return status;
  kg_entry *entry;
  status = kg_cache_get(device, &bound.instance, port, &entry, error);
  if (status) return status;
  Block block;
  lay_out(call, &bound, &block);
  kg_function *const function = kg_entry_function(entry);
  if (device->ops->launch_call) {
    status =
        device->ops->launch_call(device, function, &grid, block.bytes, block.size, call, error);
  } else {
    status = device->ops->launch(device, function, &grid, block.bytes, block.size, error);
  }
  kg_cache_release(device, entry);
  return status;
}

kg_status kg_launch(kg_device *device, const kg_call *call) {
  if (!device) return KG_BAD_ARGUMENT; /* and nowhere to keep a sentence */
  kg_error error;
  error.message[0] = 0;
  const kg_status status = launch(device, call, &error);
  if (status) {
    error.status = status;
    kg_device_report(device, &error);
  }
  return status;
}

static kg_status prepare(kg_device *device, const kg_instance *instance, kg_error *error) {
  if (!instance || !instance->kernel || !instance->kernel->ports) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_prepare: %s is a null pointer",
                   instance ? "the instance's kernel, or its ports," : "the instance");
  }
  const kg_port *port;
  kg_status status = kg_select_port(instance->kernel->ports, device, &port, error);
  if (!status) status = kg_instance_check(instance, error);
  if (status) return status;
  if (instance->wave != device->wave) {
    return kg_fail(error, KG_BAD_WIDTH, "%s: the instance is for %d lanes, and device %s has %d",
                   instance->kernel->name, instance->wave, device->name, device->wave);
  }
  kg_entry *entry;
  status = kg_cache_get(device, instance, port, &entry, error);
  if (!status) kg_cache_release(device, entry);
  return status;
}

kg_status kg_prepare(kg_device *device, const kg_instance *instance) {
  if (!device) return KG_BAD_ARGUMENT;
  kg_error error;
  error.message[0] = 0;
  const kg_status status = prepare(device, instance, &error);
  if (status) {
    error.status = status;
    kg_device_report(device, &error);
  }
  return status;
}
