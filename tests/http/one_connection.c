/* A remote keeps one connection to a real dunlind, whatever goes over it, and opens one more when
 * that was closed. Connections are counted by a relay between the two, which hands bytes on as they
 * come and ends both sides when one ends.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <dunlin/http.h>

#include "tests/support/bridge_process.h"
#include "tests/support/notebook.h"
#include "tests/support/temp.h"

enum { ENDS = 32, LOOK_MS = 20, PIECE_BYTES = 16384, SYNCS = 8 };

struct relay {
    int fd;
    in_port_t to; /* the bridge's, network order */
    char url[64];
    int ends[ENDS]; /* 2 n: a client's, 2 n + 1: the bridge's; -1: free */
    atomic_int opened;
    atomic_bool stopping;
    pthread_t thread;
};

static struct sockaddr_in loopback(in_port_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void end_pair(struct relay *relay, int end) {
    int first = end & ~1;
    for (int i = first; i <= first + 1; i++) {
        if (relay->ends[i] >= 0) {
            (void)close(relay->ends[i]);
        }
        relay->ends[i] = -1;
    }
}

static void take_client(struct relay *relay) {
    struct sockaddr_in address = loopback(relay->to);
    int free_end = 0;
    while (free_end < ENDS && relay->ends[free_end] >= 0) {
        free_end += 2;
    }
    int client = accept(relay->fd, NULL, NULL);
    if (client < 0 || free_end == ENDS) {
        (void)(client >= 0 && close(client));
        return;
    }
    relay->opened++;
    relay->ends[free_end] = client;
    relay->ends[free_end + 1] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(relay->ends[free_end + 1], (struct sockaddr *)&address, sizeof(address)) != 0) {
        end_pair(relay, free_end);
    }
}

static void hand_on(struct relay *relay, int end) {
    char piece[PIECE_BYTES];
    ssize_t got = recv(relay->ends[end], piece, sizeof(piece), 0);
    ssize_t sent = 0;
    for (ssize_t at = 0; at < got && sent >= 0; at += sent) {
        sent = send(relay->ends[end ^ 1], piece + at, (size_t)(got - at), MSG_NOSIGNAL);
    }
    if (got <= 0 || sent < 0) {
        end_pair(relay, end);
    }
}

static void *run_relay(void *self) {
    struct relay *relay = self;
    while (!relay->stopping) {
        struct pollfd fds[ENDS + 1];
        for (int i = 0; i < ENDS; i++) {
            fds[i] = (struct pollfd){.fd = relay->ends[i], .events = POLLIN};
        }
        fds[ENDS] = (struct pollfd){.fd = relay->fd, .events = POLLIN};
        if (poll(fds, ENDS + 1, LOOK_MS) <= 0) {
            continue;
        }
        for (int i = 0; i < ENDS; i++) {
            if (fds[i].revents != 0 && relay->ends[i] >= 0) {
                hand_on(relay, i);
            }
        }
        if (fds[ENDS].revents != 0) {
            take_client(relay);
        }
    }
    return NULL;
}

static void relay_open(struct relay *relay, const struct bridge *bridge) {
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof(address);
    memset(relay, 0, sizeof(*relay));
    memset(relay->ends, -1, sizeof(relay->ends));
    relay->to = htons((uint16_t)bridge->port);
    relay->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(relay->fd >= 0);
    assert_int_equal(bind(relay->fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(relay->fd, ENDS), 0);
    assert_int_equal(getsockname(relay->fd, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(relay->url, sizeof(relay->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&relay->thread, NULL, run_relay, relay), 0);
}

static void relay_close(struct relay *relay) {
    relay->stopping = true;
    assert_int_equal(pthread_join(relay->thread, NULL), 0);
    for (int i = 0; i < ENDS; i += 2) {
        end_pair(relay, i);
    }
    (void)close(relay->fd);
}

/* Syncs with nothing to send, with little, with enough to be packed; and a comparison with central.
 */
static void use(dunlin_store *store, dunlin_remote *remote, int round) {
    dunlin_divergence divergence = {0};
    char id[32];
    for (int i = 0; i < SYNCS; i++) {
        for (int j = 0; j < i * i; j++) {
            (void)snprintf(id, sizeof(id), "u%d-%d-%d", round, i, j);
            OK(dunlin_follow(store, DUNLIN_USER, id, NULL));
        }
        OK(dunlin_sync(store, remote, NULL, NULL));
    }
    OK(dunlin_verify_remote(store, remote, 0, &divergence, NULL, NULL, NULL));
    assert_int_equal(divergence.differ, 0);
    assert_true(divergence.scopes > 0);
}

static void one_connection_until_it_is_closed(void **state) {
    (void)state;
    dunlin_http_options options = DUNLIN_HTTP_OPTIONS_INIT;
    char *dir = temp_new();
    dunlin_store *store = NULL;
    dunlin_remote *remote = NULL;
    struct bridge bridge;
    struct relay relay;
    bridge_start(&bridge, dir, 0);
    relay_open(&relay, &bridge);
    options.user = "aoi";
    OK(dunlin_store_open(&store, temp_file(dir, "device.db"), "aoi", NULL, NULL));
    OK(dunlin_http_remote(&remote, relay.url, &options, NULL));
    assert_int_equal(relay.opened, 0); /* none before there is something to say */
    for (int round = 1; round <= 3; round++) {
        int port = bridge.port;
        use(store, remote, round);
        assert_int_equal(relay.opened, round);
        bridge_stop(&bridge); /* closes what it has */
        bridge_start(&bridge, dir, port);
    }
    dunlin_remote_close(remote);
    dunlin_store_close(store);
    relay_close(&relay);
    bridge_stop(&bridge);
    temp_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_connection_until_it_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
