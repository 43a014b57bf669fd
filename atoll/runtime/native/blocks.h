/* Blocks of memory that are kept between calls: fresh pages cost more than what is stored in them.
 *
 * Sizes are rounded to eight per power of two. Blocks below a megabyte are kept by the thread that gave them back, larger ones by all
 * threads together: at most ATOLL_KEEP megabytes of them (a sixteenth of the machine's memory; 0 keeps none), the oldest returned to
 * the system first, and all of them before a request is refused. Of these, 256 MB are ours; those beyond, the oldest first, are lent
 * (MADV_FREE): the system takes their pages when it wants memory for anybody, and they cost nothing to use again while it does not. What
 * is in a lent block may be gone at any time, its header too, so what is known of kept blocks stands in the list of them.
 *
 * Data starts at a multiple of 64 bytes, and in blocks of 8 KiB or more at one of four places within a page, in turn, never near its beginning, where
 * the system's own allocator puts large arrays: a store and a later load whose addresses end in about the same twelve bits wait for each
 * other (4 KiB aliasing; a chain of four arrays was 1.3 times slower with all of them at the beginning, a stencil of two 1.2 times with 512 bytes
 * between their places, as with none, and no slower with 1024 and more).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 64, KEPT = 4, CLASSES = 20 * 8, MOST_LARGE = 64 };
enum { PLACED = 1 << 13, LARGE = 1 << 20, PAGE = 4096, HUGE_PAGE = 2 << 20 };
typedef struct { int64_t bytes, asked, number, skip; char pad[ALIGN - 32]; } header;   /* bytes: of all, `skip` of them before this */
typedef struct { header *kept[CLASSES][KEPT]; int count[CLASSES]; int64_t total; } cache;

static _Thread_local cache *mine;
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t large_lock = PTHREAD_MUTEX_INITIALIZER;
typedef struct { header *h; int64_t bytes, skip; int lent; } kept_block;
static kept_block large[MOST_LARGE];   /* the oldest first */
static int large_count;
static int64_t large_total, large_limit, large_ours, ours_limit;   /* of all, and of those that are not lent */

static void drop_cache(void *p) {
    cache *c = p;
    for (int k = 0; k < CLASSES; k++)
        for (int j = 0; j < c->count[k]; j++) free((char *)c->kept[k][j] - c->kept[k][j]->skip);
    free(c);
    mine = NULL;
}

static void before_fork(void) { pthread_mutex_lock(&large_lock); }
static void fork_parent(void) { pthread_mutex_unlock(&large_lock); }
static void fork_child(void) { pthread_mutex_init(&large_lock, NULL); }

static void start_blocks(void) {
    pthread_key_create(&cache_key, drop_cache);
    pthread_atfork(before_fork, fork_parent, fork_child);
    const char *text = getenv("ATOLL_KEEP");
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    ours_limit = (int64_t)256 << 20;
    large_limit = memory > 0 ? memory / 16 : ours_limit;
    if (text && *text) large_limit = (int64_t)atoll(text) << 20;
}

static cache *my_cache(void) {
    if (!mine) {
        pthread_once(&cache_once, start_blocks);
        mine = calloc(1, sizeof *mine);
        if (mine) pthread_setspecific(cache_key, mine);
    }
    return mine;
}

/* A size rounded up to one of eight per power of two, and the number of that size. */
static int64_t rounded(int64_t size, int64_t *number) {
    if (size < 256) size = 256;
    int octave = 63 - __builtin_clzll((unsigned long long)(size - 1));   /* 2^octave < size <= 2^(octave + 1) */
    int64_t step = (int64_t)1 << (octave - 3 < 6 ? 6 : octave - 3);
    int64_t whole = (size + step - 1) / step * step;
    *number = (octave - 7) * 8 + (whole - ((int64_t)1 << octave)) / step - 1;
    return whole;
}

/* The header of a block with a page to spare, where it should be within its page. */
static header *place(char *at) {
    static _Atomic unsigned count;
    int64_t wanted = (atomic_fetch_add(&count, 1) % 4 * 2 + 1) * (PAGE / 8);
    int64_t skip = (wanted - (int64_t)(uintptr_t)at) & (PAGE - 1);
    header *h = (header *)(at + skip);
    h->skip = skip;
    return h;
}

static header *map_pages(int64_t bytes) {
    int64_t extra = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : 0;
    char *at = mmap(NULL, (size_t)(bytes + extra), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    if (extra) {   /* start at a huge page; the system may use them then */
        int64_t skip = (int64_t)(-(uintptr_t)at & (HUGE_PAGE - 1));
        if (skip) munmap(at, (size_t)skip);
        if (extra - skip) munmap(at + skip + bytes, (size_t)(extra - skip));
        at += skip;
#ifdef MADV_HUGEPAGE
        madvise(at, (size_t)bytes, MADV_HUGEPAGE);
#endif
    }
    return place(at);
}

/* Block k leaves the list. */
static kept_block leave(int k) {
    kept_block b = large[k];
    large_total -= b.bytes;
    if (!b.lent) large_ours -= b.bytes;
    large_count--;
    memmove(large + k, large + k + 1, sizeof *large * (size_t)(large_count - k));
    return b;
}

static void drop(int k) {
    kept_block b = leave(k);
    munmap((char *)b.h - b.skip, (size_t)b.bytes);
}

static void drop_all(void) {
    while (large_count) drop(large_count - 1);
}

/* Lends the oldest block that is ours; dropped where the system takes no loans (it knows no MADV_FREE, or memory is locked). */
static void lend_one(void) {
    int k = 0;
    while (large[k].lent) k++;
#ifdef MADV_FREE
    if (!madvise((char *)large[k].h - large[k].skip, (size_t)large[k].bytes, MADV_FREE)) {
        large[k].lent = 1;
        large_ours -= large[k].bytes;
        return;
    }
#endif
    drop(k);
}

static header *take_large(int64_t bytes) {
    header *found = NULL;
    pthread_mutex_lock(&large_lock);
    for (int k = large_count - 1; k >= 0 && !found; k--) {
        if (large[k].bytes != bytes) continue;
        kept_block b = leave(k);
        found = b.h;
        found->skip = b.skip;
    }
    pthread_mutex_unlock(&large_lock);
    if (!found) found = map_pages(bytes);
    if (!found) {
        pthread_mutex_lock(&large_lock);
        drop_all();
        pthread_mutex_unlock(&large_lock);
        found = map_pages(bytes);
    }
    return found;
}

static void keep_large(header *h) {
    if (h->bytes > large_limit) {
        munmap((char *)h - h->skip, (size_t)h->bytes);
        return;
    }
    pthread_mutex_lock(&large_lock);
    if (large_count == MOST_LARGE) drop(0);
    large[large_count++] = (kept_block){h, h->bytes, h->skip, 0};
    large_total += h->bytes;
    large_ours += h->bytes;
    while (large_total > large_limit) drop(0);
    while (large_ours > ours_limit) lend_one();
    pthread_mutex_unlock(&large_lock);
}

/* Bytes kept for later by all threads together, or those of them that are not lent; with `give_back`, none are kept any more. */
static int64_t kept_bytes(int give_back, const int64_t *which) {
    pthread_mutex_lock(&large_lock);
    if (give_back) drop_all();
    int64_t total = *which;
    pthread_mutex_unlock(&large_lock);
    return total;
}

int64_t atoll_kept(int give_back) { return kept_bytes(give_back, &large_total); }
int64_t atoll_kept_ours(void) { return kept_bytes(0, &large_ours); }

void *atoll_block(int64_t bytes) {
    if (bytes < 0 || bytes > ((int64_t)1 << 46)) return NULL;
    int64_t size = bytes + (int64_t)sizeof(header), number, whole = rounded(size, &number);
    if (whole >= PLACED) whole = rounded(size + PAGE, &number);
    cache *c = my_cache();
    header *h = NULL;
    if (whole >= LARGE) {
        whole = (whole + PAGE - 1) & ~(int64_t)(PAGE - 1);
        h = take_large(whole);
    } else if (c && c->count[number] > 0) {
        h = c->kept[number][--c->count[number]];
        c->total -= whole;
    } else {
        char *at = aligned_alloc(ALIGN, (size_t)whole);
        h = (header *)at;
        if (at && whole >= PLACED) h = place(at);
        else if (at) h->skip = 0;
    }
    if (!h) return NULL;
    h->bytes = whole;
    h->number = number;
    return h + 1;
}

void atoll_unblock(void *block) {
    if (!block) return;
    header *h = (header *)block - 1;
    if (h->bytes >= LARGE) {
        keep_large(h);
        return;
    }
    cache *c = my_cache();
    if (c && c->count[h->number] < KEPT && c->total < (16 << 20) && large_limit > 0) {
        c->kept[h->number][c->count[h->number]++] = h;
        c->total += h->bytes;
        return;
    }
    free((char *)h - h->skip);
}

/* A block of another size with the same data: results of NumPy can be resized. */
void *atoll_reblock(void *block, int64_t bytes) {
    if (!block) return atoll_block(bytes);
    header *h = (header *)block - 1;
    void *made = atoll_block(bytes);
    if (!made) return NULL;
    int64_t had = h->bytes - h->skip - (int64_t)sizeof(header);
    memcpy(made, block, (size_t)(had < bytes ? had : bytes));
    atoll_unblock(block);
    return made;
}
