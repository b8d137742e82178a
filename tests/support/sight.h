/* What a device of a world shows, as text, and what stands at its central. */
#ifndef DLN_TESTS_SIGHT_H
#define DLN_TESTS_SIGHT_H

#include "base/record.h"
#include "tests/support/notebook.h"
#include "tests/support/world.h"

/* As show_…() of notebook.h; good until 8 more calls. */
const char *sight_following(const struct device *device);
const char *sight_subscriptions(const struct device *device);
const char *sight_lists(const struct device *device);
const char *sight_items(const struct device *device, const char *list);

/* The devices' dumps are equal, and equal to central's; both derive and count as a recompute does.
 */
void sight_agree(struct device *const *devices, int count);
/* The line of the device's dump that holds both texts, "" when there is none; good until 8 more
 * calls. The test fails when there are several. */
const char *sight_line(struct device *device, const char *one, const char *other);
/* The same in central's dump, as that device may read it. */
const char *sight_central_line(struct device *device, const char *one, const char *other);
size_t sight_count(const char *text, const char *part);

/* One number of SQL from central's file, read by a connection of its own. */
int64_t sight_central_number(const struct world *world, const char *sql);
/* How many versions of that key central's log holds ("item/l1/video/v1"), NULL: of all keys. */
int64_t sight_versions(const struct world *world, const char *scope, const char *key);

/* What a newer version of dunlin, which knows more fields, pushes in the device's owner's name; the
 * test fails unless central takes it. */
void sight_push(struct device *device, const struct dln_record *record);

#endif
