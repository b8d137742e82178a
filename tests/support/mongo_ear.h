/* The ear at the driver's commands: it stands before libmongoc's function that makes a pool, so it
 * hears whatever central sends from this process, however it was opened; preloaded as a library, it
 * hears a dunlind and a dunlin just as well, and says so on stderr where DUNLIN_TEST_EAR_SAYS is
 * set. A command that breaks a rule ends the process:
 *
 * - one on `changes` names its scope, so that a sharded cluster asks one shard;
 * - where there is a replica set or a router, reads are majority reads, and writes wait for a
 *   majority; elsewhere they wait for one server; always for the journal;
 * - where there are sessions, all of that belongs to one. */
#ifndef DLN_TESTS_MONGO_EAR_H
#define DLN_TESTS_MONGO_EAR_H

#include <stdbool.h>
#include <stddef.h>

/* What this thread sends while it is true is the test's own business: no rule holds for it. */
extern _Thread_local bool mongo_ear_mine;

/* What the driver sent for this thread since it called mongo_listen(): the number of commands, and
 * a text of them, "find changes, insert changes, …". */
void mongo_listen(void);
size_t mongo_heard(void);
const char *mongo_heard_text(void);

#endif
