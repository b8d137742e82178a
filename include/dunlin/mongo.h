/* The remote over MongoDB's driver (libdunlin-mongo): central in this process, over a database that
 * the process reaches itself. Nobody checks who the user is, and the rules of authorization run
 * here: whoever holds the url's password can read and write all that its role allows. For machines
 * of the owner; give devices the bridge. Which role: docs/mongodb-roles.md. */
#ifndef DUNLIN_MONGO_H
#define DUNLIN_MONGO_H

#include <dunlin/central.h>
#include <dunlin/error.h>
#include <dunlin/sys/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A remote that speaks for that user. Connects, looks what the deployment can do, and makes the
 * indexes that are missing. Close with dunlin_remote_close(); one thread at a time.
 *   url      "mongodb://…/DATABASE" or "mongodb+srv://…/DATABASE"; options may be NULL
 * Returns MISUSE, INVALID_ID, INVALID_TEXT, TOO_LONG, UNSUPPORTED (the deployment lacks something
 * that is needed; the message names it), OFFLINE (nobody answers), NOT_ALLOWED (the password or a
 * role), UNAVAILABLE, NEWER_SCHEMA, OUT_OF_MEMORY. */
DUNLIN_API DUNLIN_MUST_USE dunlin_status dunlin_mongo_remote(dunlin_remote **out, const char *url,
                                                             const char *user,
                                                             const dunlin_central_options *options,
                                                             dunlin_error *err);

#ifdef __cplusplus
}
#endif
#endif
