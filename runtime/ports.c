/* ports.c: which port a device may run, and the refusal when there is none.
**
** One function answers, for launchers and predicates alike, so the two cannot disagree.  It
** looks at the kernel's table and at the device's facts, and never compiles. */
#include <string.h>

#include "device.h"
#include "model/kernel.h"

static const kg_port *slot(const KernelPorts *ports, const char *backend, const char **why) {
  if (strcmp(backend, "metal") == 0) return *why = ports->why.metal, ports->metal;
  if (strcmp(backend, "cuda") == 0) return *why = ports->why.cuda, ports->cuda;
  if (strcmp(backend, "hip") == 0) return *why = ports->why.rocm, ports->rocm;
  for (const kg_other_port *o = ports->others; o && o->backend; o++)
    if (strcmp(backend, o->backend) == 0) return *why = o->why, o->port;
  *why = NULL;
  return NULL;
}

static unsigned wave_bit(int wave) { return wave == 32 ? KG_WAVE32 : wave == 64 ? KG_WAVE64 : 0; }

static const char *waves_text(unsigned waves) {
  switch (waves) {
  case KG_WAVE32: return "32 lanes only";
  case KG_WAVE64: return "64 lanes only";
  case KG_WAVE32 | KG_WAVE64: return "32 or 64 lanes";
  default: return "no width at all";
  }
}

static kg_status refuse_width(const KernelPorts *ports, const kg_port *port,
                              const kg_device *device, const char *fallback, kg_error *error) {
  if (device->wave == 0) {
    return kg_fail(
        error, KG_BAD_WIDTH,
        "%s: its %s port is for wavefronts of %s, and the width of device %s could not be "
        "found; use the fallback: %s",
        ports->kernel, port->backend, waves_text(port->waves), device->name, fallback);
  }
  return kg_fail(
      error, KG_BAD_WIDTH,
      "%s: its %s port is for wavefronts of %s, and device %s has %d; use the fallback: %s",
      ports->kernel, port->backend, waves_text(port->waves), device->name, device->wave, fallback);
}

kg_status kg_select_port(const KernelPorts *ports, const kg_device *device, const kg_port **port,
                         kg_error *error) {
  if (port) *port = NULL;
  if (!ports || !device || !port) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_select_port: %s is a null pointer",
                   !ports    ? "ports"
                   : !device ? "device"
                             : "port");
  }
  const kg_status status = kg_version_check(ports->version, error);
  if (status) return status;
  const char *why;
  const kg_port *const found = slot(ports, device->ops->backend, &why);
  const char *const fallback =
      ports->fallback && *ports->fallback ? ports->fallback : "none is given";
  if (!found) {
    return kg_fail(error, KG_NO_PORT, "%s: no port for %s (%s); use the fallback: %s",
                   ports->kernel, device->ops->backend,
                   why && *why ? why : "its specification does not name it", fallback);
  }
  if (!found->text) {
    return kg_fail(error, KG_NO_PORT, "%s: its %s port has no text; use the fallback: %s",
                   ports->kernel, found->backend, fallback);
  }
  if (!(found->waves & wave_bit(device->wave)))
    return refuse_width(ports, found, device, fallback, error);
  *port = found;
  return KG_OK;
}

bool kg_has_port(const KernelPorts *ports, const kg_device *device) {
  const kg_port *port;
  return kg_select_port(ports, device, &port, NULL) == KG_OK;
}
