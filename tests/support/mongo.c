#include "tests/support/mongo.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/mongo_ear.h"
#include "tests/support/temp.h"

enum { URL_BYTES = 2048 };

static const char server_script[] = DUNLIN_SOURCE_DIR "/tests/support/mongo_server";

bool mongo_is_chosen(void) {
    const char *engine = getenv("DUNLIN_TEST_ENGINE");
    return engine != NULL && strcmp(engine, "mongo") == 0;
}

/* ---- the server */

static char server_uri[URL_BYTES];

static bool server_scans;

/* Lines: the uri, the guard's process, and what else is known of the server. */
static bool read_uri(const char *path) {
    char line[64] = "";
    FILE *file = fopen(path, "r");
    bool got = file != NULL && fgets(server_uri, sizeof(server_uri), file) != NULL;
    while (got && fgets(line, sizeof(line), file) != NULL) {
        server_scans = server_scans || strcmp(line, "scans\n") == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    server_uri[strcspn(server_uri, "\n")] = '\0';
    return got && server_uri[0] != '\0';
}

static bool start_own(const char *kind) {
    char *folder = temp_new();
    const char *path = temp_file(folder, "server");
    char owner[32];
    (void)snprintf(owner, sizeof(owner), "%ld", (long)getpid());
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)execl("/bin/bash", "bash", server_script, "start", path, owner, kind, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    bool got = WIFEXITED(status) && WEXITSTATUS(status) == 0 && read_uri(path);
    temp_remove(folder);
    return got;
}

const char *mongo_server(void) {
    const char *path = getenv("DUNLIN_TEST_MONGO_FILE");
    const char *given = getenv("DUNLIN_TEST_MONGO_URI");
    if (server_uri[0] != '\0') {
        return server_uri;
    }
    if (path != NULL && read_uri(path)) {
        return server_uri;
    }
    if (given != NULL && given[0] != '\0') {
        (void)snprintf(server_uri, sizeof(server_uri), "%s", given);
        return server_uri;
    }
    if (!start_own(NULL)) {
        fail_msg("no MongoDB for this test; see what %s says", server_script);
    }
    return server_uri;
}

bool mongo_stand_alone(void) {
    return start_own("standalone");
}

bool mongo_scans(void) {
    (void)mongo_server();
    return server_scans;
}

/* Puts the database's name behind the hosts, before the options. */
char *mongo_new(void) {
    static int made;
    const char *server = mongo_server();
    const char *hosts = strstr(server, "://");
    assert_non_null(hosts);
    size_t hosts_len = strcspn(hosts + 3, "/?");
    size_t head_len = (size_t)(hosts - server) + 3 + hosts_len;
    const char *options = strchr(server + head_len, '?');
    char *url = malloc(URL_BYTES);
    assert_non_null(url);
    (void)snprintf(url, URL_BYTES, "%.*s/dunlin_test_%ld_%d%s", (int)head_len, server,
                   (long)getpid(), ++made, options != NULL ? options : "");
    return url;
}

/* ---- deployments
 *
 * Closing one takes the driver half a second, and dropping a database the server's: a thread does
 * both while the next test runs. */

enum { KEPT_MAX = 64, REAPERS_MAX = 512 };

struct reaper {
    pthread_t thread;
    struct dln_mongo *kept[KEPT_MAX];
    int count;
    char *url;
};

static struct reaper *reapers[REAPERS_MAX];
static int reaper_count;
static struct reaper now_kept;
static pid_t keeper; /* a child of it must not touch what it inherited */

static void join_reapers(void) {
    for (int i = 0; i < reaper_count && keeper == getpid(); i++) {
        (void)pthread_join(reapers[i]->thread, NULL);
        free(reapers[i]->url);
        free(reapers[i]);
    }
    reaper_count = 0;
}

static void keep(struct dln_mongo *mongo) {
    if (keeper != getpid()) {
        keeper = getpid();
        now_kept.count = 0;
        reaper_count = 0;
        (void)atexit(join_reapers);
    }
    assert_true(now_kept.count < KEPT_MAX);
    now_kept.kept[now_kept.count++] = mongo;
}

static bool run(struct dln_mongo *mongo, bool admin, const char *json) {
    bson_error_t error = {0};
    mongoc_client_t *client = mongoc_client_pool_pop(mongo->pool);
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    bool ran = false;
    if (command != NULL) {
        mongo_ear_mine = true;
        ran = mongoc_client_command_simple(client, admin ? "admin" : mongo->database, command, NULL,
                                           NULL, &error);
        mongo_ear_mine = false;
    }
    bson_destroy(command);
    mongoc_client_pool_push(mongo->pool, client);
    return ran;
}

static void *reap(void *self) {
    struct reaper *reaper = self;
    (void)run(reaper->kept[0], false, "{\"dropDatabase\": 1}");
    for (int i = 0; i < reaper->count; i++) {
        dln_mongo_close(reaper->kept[i]);
    }
    return NULL;
}

void mongo_drop(char *url) {
    if (url == NULL) {
        return;
    }
    if (keeper != getpid() || now_kept.count == 0) {
        keep(mongo_connect(url));
    }
    assert_true(reaper_count < REAPERS_MAX);
    struct reaper *reaper = malloc(sizeof(*reaper));
    assert_non_null(reaper);
    *reaper = now_kept;
    reaper->url = url;
    now_kept.count = 0;
    reapers[reaper_count++] = reaper;
    assert_int_equal(pthread_create(&reaper->thread, NULL, reap, reaper), 0);
}

bool mongo_try(const char *url, bool admin, const char *json) {
    if (keeper != getpid() || now_kept.count == 0) {
        keep(mongo_connect(url));
    }
    return run(now_kept.kept[0], admin, json);
}

/* ---- opening */

struct dln_mongo *mongo_connect(const char *url) {
    struct dln_mongo *mongo = NULL;
    dunlin_error err = {0};
    dunlin_status status = dln_mongo_connect(&mongo, url, &err);
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err.message);
    }
    return mongo;
}

dunlin_central *mongo_central(const char *url, const dunlin_central_options *options) {
    dunlin_central *central = NULL;
    dunlin_error err = {0};
    struct dln_mongo *mongo = mongo_connect(url);
    dunlin_status status = dln_mongo_central(mongo, &central, options, &err);
    keep(mongo);
    if (status != DUNLIN_OK) {
        fail_msg("%s: %s", dunlin_status_name(status), err.message);
    }
    return central;
}
