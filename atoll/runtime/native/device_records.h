/* Loops of launches that are recorded once and played again: `record` and `recorded` of device.h, for both tables.
 *
 * What a loop puts in the queue depends on the variables that its program names, by their values, and on nothing else. The first time with some values it runs and its
 * launches are counted; the second time it is recorded, if they are neither few nor very many; from then on it is played, and variables get the values they had after it.
 * A few such values are kept for each loop. */

static int at_capture(at_queue *q);              /* from now on what is put in the queue is written down, not done; 0 where that cannot be */
static void *at_captured(at_queue *q);           /* what was written down, ready to be played; NULL where it cannot be */
static int at_play(at_queue *q, void *made);     /* put it in the queue */
static void at_drop(at_queue *q, void *made);

enum { AT_RECORDS = 4, AT_LEAST_LAUNCHES = 4, AT_MOST_LAUNCHES = 4096, AT_MOST_VALUES = 1 << 11 };
enum { AT_ONCE, AT_SEEN, AT_RECORDING, AT_MADE, AT_NOT_WORTH };

typedef struct at_record {
    uint64_t program, used;
    int device, loop, state;
    int64_t launches, bytes;
    void *made;
    struct at_record *next;
    unsigned char *after;    /* values when it was over; before it: behind this */
} at_record;

static struct { pthread_mutex_t lock; at_record *all[256]; uint64_t clock; int64_t made, played; } at_records = {PTHREAD_MUTEX_INITIALIZER, {0}, 0, 0, 0};

static int64_t at_packed(const at_value *values, int count, unsigned char *to) {
    int64_t bytes = 0;
    for (int k = 0; k < count; bytes += values[k++].bytes)
        if (bytes + values[k].bytes > AT_MOST_VALUES) return -1;
        else memcpy(to + bytes, values[k].at, (size_t)values[k].bytes);
    return bytes;
}

static void at_unpacked(const at_value *values, int count, const unsigned char *from) {
    for (int k = 0; k < count; from += values[k++].bytes)
        if (values[k].changes) memcpy(values[k].at, from, (size_t)values[k].bytes);
}

static unsigned char *at_before(at_record *r) { return (unsigned char *)(r + 1); }

/* A place for a loop with new values: of those it has the one that was not used for longest goes. */
static at_record *at_new_record(at_queue *q, int loop, const unsigned char *values, int64_t bytes) {
    at_record **bucket = &at_records.all[q->program % 256], **oldest = 0;
    int have = 0;
    for (at_record **place = bucket; *place; place = &(*place)->next) {
        at_record *r = *place;
        if (r->program != q->program || r->device != q->device || r->loop != loop) continue;
        have++;
        if (r->state != AT_ONCE && r->state != AT_RECORDING && (!oldest || r->used < (*oldest)->used)) oldest = place;
    }
    if (have >= AT_RECORDS && oldest) {
        at_record *gone = *oldest;
        *oldest = gone->next;
        if (gone->made) at_drop(q, gone->made);
        free(gone);
    }
    at_record *r = (at_record *)calloc(1, sizeof *r + 2 * (size_t)bytes);
    if (!r) return 0;
    r->program = q->program, r->device = q->device, r->loop = loop, r->bytes = bytes;
    memcpy(at_before(r), values, (size_t)bytes);
    r->after = at_before(r) + bytes;
    r->next = *bucket;
    return *bucket = r;
}

static int at_record_loop(at_queue *q, int loop, const at_value *values, int count) {
    unsigned char now[AT_MOST_VALUES];
    const int64_t bytes = q->program ? at_packed(values, count, now) : -1;
    q->recording = 0;
    if (bytes < 0) return AT_RUN;
    int answer = AT_RUN;
    pthread_mutex_lock(&at_records.lock);
    at_record *r = at_records.all[q->program % 256];
    while (r && (r->program != q->program || r->device != q->device || r->loop != loop || r->bytes != bytes || memcmp(at_before(r), now, (size_t)bytes))) r = r->next;
    if (!r && (r = at_new_record(q, loop, now, bytes))) {
        q->recording = r;
        r->launches = -q->launches;
    } else if (r && r->state == AT_MADE) {
        const int status = at_play(q, r->made);
        at_records.played++;
        if (!status) at_unpacked(values, count, r->after);
        answer = status ? status : AT_DONE;
    } else if (r && r->state == AT_SEEN) {
        if (at_capture(q)) r->state = AT_RECORDING, q->recording = r, answer = AT_RECORD;
        else r->state = AT_NOT_WORTH;
    }
    if (r) r->used = ++at_records.clock;
    pthread_mutex_unlock(&at_records.lock);
    return answer;
}

/* After the loop; `values` NULL: it was left before its end. */
static int at_recorded_loop(at_queue *q, const at_value *values, int count) {
    at_record *r = (at_record *)q->recording;
    if (!r) return 0;
    q->recording = 0;
    int answer = 0;
    pthread_mutex_lock(&at_records.lock);
    if (r->state == AT_RECORDING) {
        r->made = at_captured(q);
        if (!values) {
            if (r->made) at_drop(q, r->made);
            r->made = 0;
        }
        r->state = r->made ? AT_MADE : AT_NOT_WORTH;
        if (r->made) {
            at_records.made++;
            at_packed(values, count, r->after);
            answer = at_play(q, r->made);
        } else if (values) {
            at_unpacked(values, count, at_before(r));
            answer = AT_AGAIN;
        }
    } else {
        r->launches += q->launches;
        r->state = !values || r->launches < AT_LEAST_LAUNCHES || r->launches > AT_MOST_LAUNCHES ? AT_NOT_WORTH : AT_SEEN;
    }
    pthread_mutex_unlock(&at_records.lock);
    return answer;
}
