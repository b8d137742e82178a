#include "tests/support/bridge_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"

enum {
    START_MS = 20 * 1000,
    ANSWER_MAX = 64 * 1024 * 1024,
    LATE_MS = 300,
    CUT_MS = 50,
    PIECE_BYTES = 16384
};

/* ---- the process */

static void run_child(const char *store, const char *listen, int output) {
    (void)dup2(output, STDERR_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)execl(DUNLIN_BRIDGE, DUNLIN_BRIDGE, "--insecure", "--store", store, "--listen", listen,
                "--log", "/dev/null", (char *)NULL);
    _exit(127);
}

/* Reads what it says until it names its port. */
static int read_port(int output) {
    char said[4096] = "";
    size_t len = 0;
    struct pollfd poll_fd = {.fd = output, .events = POLLIN};
    while (len + 1 < sizeof(said) && poll(&poll_fd, 1, START_MS) > 0) {
        ssize_t got = read(output, said + len, sizeof(said) - 1 - len);
        if (got <= 0) {
            break;
        }
        len += (size_t)got;
        said[len] = '\0';
        const char *found = strstr(said, "listening on http://127.0.0.1:");
        if (found && strchr(found, '\n')) {
            return (int)strtol(found + strlen("listening on http://127.0.0.1:"), NULL, 10);
        }
    }
    print_error("%s", said);
    return 0;
}

void bridge_start(struct bridge *bridge, const char *dir, int port) {
    char store[600], listen_at[32];
    int ends[2];
    (void)snprintf(store, sizeof(store), "sqlite:%s/central.db", dir);
    (void)snprintf(listen_at, sizeof(listen_at), "127.0.0.1:%d", port);
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[0], F_SETFD, FD_CLOEXEC) >= 0 &&
                fcntl(ends[1], F_SETFD, FD_CLOEXEC) >= 0);
    bridge->pid = fork();
    assert_true(bridge->pid >= 0);
    if (bridge->pid == 0) {
        run_child(store, listen_at, ends[1]);
    }
    (void)close(ends[1]);
    bridge->output = ends[0];
    bridge->port = read_port(bridge->output);
    if (bridge->port == 0) {
        (void)kill(bridge->pid, SIGKILL);
        fail_msg("dunlind did not come up");
    }
    (void)snprintf(bridge->url, sizeof(bridge->url), "http://127.0.0.1:%d", bridge->port);
}

static int end(struct bridge *bridge, int number) {
    int status = 0;
    char said[4096];
    assert_int_equal(kill(bridge->pid, number), 0);
    assert_int_equal(waitpid(bridge->pid, &status, 0), bridge->pid);
    ssize_t len = read(bridge->output, said, sizeof(said)); /* all writers are gone */
    if (number == SIGTERM && status != 0) {
        print_error("%.*s", len > 0 ? (int)len : 0, said);
    }
    (void)close(bridge->output);
    return status;
}

void bridge_kill(struct bridge *bridge) {
    (void)end(bridge, SIGKILL);
}

void bridge_stop(struct bridge *bridge) {
    int status = end(bridge, SIGTERM);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- the way */

static int connect_to(const struct bridge *bridge) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)bridge->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static bool push(int fd, const char *data, size_t len) {
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* Sends the request, or its first bytes, on a connection of its own that ends with the answer; -1:
 * nobody is there. */
static int forward(const struct way *way, const struct web_request *request, size_t len_max) {
    struct dln_buf whole = DLN_BUF_INIT(ANSWER_MAX);
    const char *rest = strstr(request->head, "\r\n") + 2;
    int fd = connect_to(way->bridge);
    if (fd < 0) {
        return fd;
    }
    dln_buf_append(&whole, request->head, (size_t)(rest - request->head));
    dln_buf_append_text(&whole, "Connection: close\r\n");
    dln_buf_append_text(&whole, rest);
    dln_buf_append(&whole, request->body, request->body_len);
    assert_int_equal(whole.status, DUNLIN_OK);
    (void)push(fd, whole.data, whole.len < len_max ? whole.len : len_max);
    dln_buf_free(&whole);
    return fd;
}

static void take_answer(int fd, struct dln_buf *answer) {
    char piece[PIECE_BYTES];
    ssize_t got;
    while (fd >= 0 && (got = recv(fd, piece, sizeof(piece), 0)) > 0) {
        dln_buf_append(answer, piece, (size_t)got);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* A stream: each piece as it comes, until either side ends it. The web is unlocked meanwhile. */
static void relay(struct way *way, int fd, struct web_client *client) {
    char piece[PIECE_BYTES];
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    for (bool going = fd >= 0; going;) {
        int ready = poll(&poll_fd, 1, 0);
        if (ready > 0) {
            ssize_t got = recv(fd, piece, sizeof(piece), 0);
            going = got > 0 && web_send(client, piece, (size_t)got);
        } else {
            web_pause(client, 5);
            going = !way->web.stopping && !web_client_stirs(client, 0);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void send_answer(struct way *way, struct web_client *client, enum way_fault fault,
                        struct dln_buf *answer) {
    size_t len = answer->len;
    if (fault == WAY_REPEATS && way->last) {
        (void)web_send(client, way->last, way->last_len);
    } else if (fault == WAY_CUTS_ANSWER) {
        (void)web_send(client, answer->data, way->cut_at < len ? way->cut_at : len / 2);
    } else if (fault != WAY_LOSES_ANSWER) {
        (void)web_send(client, answer->data, len);
    }
    free(way->last);
    way->last = answer->data;
    way->last_len = len;
}

/* Every connection ends with its answer. */
static bool carry(void *payload, const struct web_request *request, struct web_client *client) {
    struct way *way = payload;
    struct dln_buf answer = DLN_BUF_INIT(ANSWER_MAX);
    enum way_fault fault = way->choose ? way->choose(way->payload, request->number) : WAY_CLEAR;
    if (fault == WAY_REFUSES) {
        return false;
    }
    if (fault == WAY_ANSWERS) {
        (void)web_reply_text(client, 200, WEB_HTML, "<html>Welcome to our hotel</html>");
        return false;
    }
    if (fault == WAY_CUTS_REQUEST) {
        size_t whole = strlen(request->head) + request->body_len;
        int fd = forward(way, request, whole / 2);
        web_pause(client, CUT_MS);
        (void)(fd >= 0 && close(fd));
        return false;
    }
    if (fault == WAY_DOUBLES) {
        take_answer(forward(way, request, SIZE_MAX), &answer);
        dln_buf_clear(&answer);
    }
    if (strncmp(request->head, "GET ", 4) == 0) {
        relay(way, forward(way, request, SIZE_MAX), client);
        return false;
    }
    take_answer(forward(way, request, SIZE_MAX), &answer);
    if (fault == WAY_DELAYS) {
        web_pause(client, LATE_MS);
    }
    send_answer(way, client, fault, &answer);
    return false;
}

void way_open(struct way *way, const struct bridge *bridge,
              enum way_fault (*choose)(void *payload, int number), void *payload) {
    *way = (struct way){.bridge = bridge, .choose = choose, .payload = payload};
    web_start(&way->web, carry, way);
}

void way_close(struct way *way) {
    web_stop(&way->web);
    free(way->last);
}
