/* Ports that an app's tests or a port to a new platform fill in: clock and random. */
#ifndef DUNLIN_SYS_PORTS_H
#define DUNLIN_SYS_PORTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Given to dunlin_store_open(), or to a central, in its options, where NULL means the system's own.
 * Every function is called on the thread that called dunlin, and must not call dunlin. `self` is
 * handed to each; it must live as long as the store is open. */
typedef struct dunlin_ports {
    void *self;
    /* Unix time in milliseconds; any value is survived, also one that jumps. */
    int64_t (*now_ms)(void *self);
    /* Fills len bytes with unpredictable bits. */
    void (*random)(void *self, void *out, size_t len);
} dunlin_ports;

#ifdef __cplusplus
}
#endif
#endif
