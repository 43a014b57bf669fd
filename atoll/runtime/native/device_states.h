/* States of programs, kept between calls: `lend` and `take_back` of device.h, for both tables. This stands after at_pinned and at_unpinned, which give memory
 * of the host that the device can write, and take it back.
 *
 * A call takes a state that an earlier call of the same program left as it found it, or a fresh one; two calls at once have two. The queue does everything in
 * order, so a state is free again when the call that used it has put its last kernel there. */

static struct { pthread_mutex_t lock; at_lent *idle[256]; } at_states = {PTHREAD_MUTEX_INITIALIZER, {0}};

static int at_lend(at_queue *q, int64_t bytes, at_lent **made) {
    at_lent **place = &at_states.idle[q->program % 256], *found;
    pthread_mutex_lock(&at_states.lock);
    while (*place && ((*place)->program != q->program || (*place)->device != q->device || (*place)->bytes != bytes)) place = &(*place)->next;
    if ((found = *place)) *place = found->next;
    pthread_mutex_unlock(&at_states.lock);
    if (!found) {
        const int64_t room = (bytes + 7) / 8 * 8;
        if (!(found = (at_lent *)calloc(1, sizeof *found))) return AT_NO_ROOM;
        const int status = q->alloc(q, bytes, &found->there);
        if (status || !(found->mirror = at_pinned((size_t)room + 8))) {
            if (!status) q->release(q, found->there);
            free(found);
            return status ? status : AT_NO_ROOM;
        }
        memset(found->mirror, 0, (size_t)room + 8);
        found->told = (int32_t *)((char *)found->mirror + room);
        found->program = q->program, found->bytes = bytes, found->device = q->device, found->fresh = 1;
    }
    *made = found;
    return 0;
}

static void at_take_back(at_queue *q, at_lent *lent, int clean) {
    if (clean && q->program) {
        at_lent **place = &at_states.idle[q->program % 256];
        pthread_mutex_lock(&at_states.lock);
        lent->next = *place;
        *place = lent;
        pthread_mutex_unlock(&at_states.lock);
        return;
    }
    q->sync(q); /* kernels may still write to it */
    q->release(q, lent->there);
    at_unpinned(lent->mirror);
    free(lent);
}
