/* scans.c - see scans.h. */
#include "scans.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void scans_init(scans *ret_scans, uint64_t seed) {
    memset(ret_scans, 0, sizeof *ret_scans);
    ranking_init(&ret_scans->list, seed);
}

/* ------------------------------------------------------------------ estimating */

/* Six bits of the hash choose a register. It keeps the longest run of zeros in the other bits. */
void scans_register(uint8_t *registers, uint64_t hash) {
    size_t const   i = hash % SCANS_REGISTERS;
    uint64_t const rest = hash / SCANS_REGISTERS | UINT64_C(1) << 57;
    uint8_t const  run = (uint8_t)(__builtin_ctzll(rest) + 1);
    if (run > registers[i]) registers[i] = run;
}

double scans_estimate(const uint8_t *registers) {
    double   sum = 0;
    unsigned zeros = 0;
    for (unsigned i = 0; i < SCANS_REGISTERS; i++) {
        sum += ldexp(1, -registers[i]);
        zeros += registers[i] == 0;
    }
    double const n = SCANS_REGISTERS, raw = 0.709 * n * n / sum; /* 0.709: for 64 registers */
    return raw <= 2.5 * n && zeros != 0 ? n * log(n / zeros) : raw;
}

/* Registers of two sets: the larger ones are those of both together. */
static void add_registers(uint8_t *to, const uint8_t *from) {
    for (unsigned i = 0; i < SCANS_REGISTERS; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void add_piece(scan_registers *to, const scan_registers *from) {
    add_registers(to->targets, from->targets);
    add_registers(to->answered, from->answered);
    add_registers(to->hosts, from->hosts);
    add_registers(to->ports, from->ports);
}

static uint64_t count_attempts(const scan_source *source, scan_span span) {
    uint64_t n = span == SCAN_ALL ? source->past_attempts : 0;
    for (unsigned i = 0; i < SCANS_PIECES; i++) n += source->attempts[i];
    return n;
}

static uint64_t count_answers(const scan_source *source, scan_span span) {
    uint64_t n = span == SCAN_ALL ? source->past_answers : 0;
    for (unsigned i = 0; i < SCANS_PIECES; i++) n += source->answers[i];
    return n;
}

static void add_pieces(const scan_source *source, scan_span span, scan_registers *ret_sum) {
    memset(ret_sum, 0, sizeof *ret_sum);
    if (span == SCAN_ALL) *ret_sum = source->past;
    for (unsigned i = 0; i < SCANS_PIECES; i++) add_piece(ret_sum, &source->pieces[i]);
}

/* There cannot be more hosts than attempts. */
scan_figures scans_figures(const scan_source *source, scan_span span) {
    scan_registers sum;
    add_pieces(source, span, &sum);
    uint64_t const n = count_attempts(source, span);
    double const   attempts = (double)n;
    return (scan_figures){ .attempts = n,
                           .answers = count_answers(source, span),
                           .hosts = (uint64_t)llround(fmin(scans_estimate(sum.hosts), attempts)),
                           .ports = (uint64_t)llround(fmin(scans_estimate(sum.ports), attempts)) };
}

/* ------------------------------------------------------------------ time */

/* The latest piece becomes one of the past. */
static void clear_piece(scan_source *source, uint64_t piece) {
    size_t const i = piece % SCANS_PIECES;
    if (source->attempts[i] != 0 || source->answers[i] != 0) {
        add_piece(&source->past, &source->pieces[i]);
        memset(&source->pieces[i], 0, sizeof source->pieces[i]);
    }
    source->past_attempts += source->attempts[i];
    source->past_answers += source->answers[i];
    source->attempts[i] = source->answers[i] = 0;
}

/* Let the window and the young attempts of source i move on. */
static void source_advance(scans *s, uint16_t i, uint64_t now_ns) {
    scan_source *const source = &s->sources[i];
    uint64_t const     piece = now_ns / SCANS_PIECE_NS, slot = now_ns / SCANS_GRACE_NS;
    uint64_t const     n = piece - source->piece;
    if (n >= SCANS_PIECES) source->told = SCAN_NONE; /* the next scan is another one */
    for (uint64_t k = 0; k < n && k < SCANS_PIECES; k++) clear_piece(source, piece - k);
    if (n != 0) s->tried[i] = count_attempts(source, SCAN_WINDOW);
    source->piece = piece;
    if (slot == source->slot) return;
    source->young[1] = slot == source->slot + 1 ? source->young[0] : 0;
    source->young[0] = 0;
    source->slot = slot;
}

/* ------------------------------------------------------------------ counting */

static void source_begin(scan_source *source, uint64_t now_ns) {
    memset(source, 0, sizeof *source);
    source->piece = now_ns / SCANS_PIECE_NS;
    source->slot = now_ns / SCANS_GRACE_NS;
}

static uint64_t hash_port(const scans *s, const host_end *to) {
    return XXH3_64bits_withSeed(&to->port, sizeof to->port, s->list.seed);
}

static uint64_t hash_target(uint64_t host, uint64_t port) {
    return XXH64(&port, sizeof port, host);
}

/* Was there an attempt of this source before, as far as we remember? */
static bool is_seen_again(scans *s, uint64_t hash) {
    uint32_t *const place = &s->seen[hash % SCANS_PLACES];
    uint32_t const  mark = (uint32_t)(hash >> 32) | 1; /* 0: nobody */
    if (*place == mark) return true;
    *place = mark;
    return false;
}

/* A vote by majority: a target that has more attempts than all others together remains. */
static void vote_for(scan_source *source, const host_end *to, uint64_t target) {
    if (source->votes == 0) {
        source->target = *to;
        source->target_hash = target;
    }
    if (target == source->target_hash)
        source->votes++;
    else
        source->votes--;
}

static void source_count(scans *s, scan_source *source, const host_end *to, uint32_t n) {
    uint64_t const        host = ranking_hash(&s->list, to->address), port = hash_port(s, to);
    size_t const          i = source->piece % SCANS_PIECES;
    scan_registers *const piece = &source->pieces[i];
    scans_register(piece->hosts, host);
    if (to->port != 0) scans_register(piece->ports, port);
    scans_register(piece->targets, hash_target(host, port));
    vote_for(source, to, hash_target(host, port));
    source->is_recent = true;
    source->is_settled = false;
    source->attempts[i] += n;
    source->young[0] += n;
}

/* When a source enters, its first attempt is counted as well. */
void scans_attempt(scans *s, const host_end *from, const host_end *to, uint64_t now_ns) {
    uint64_t const hash = ranking_hash(&s->list, from->address);
    bool           has_entered = false;
    s->busy_until = now_ns / SCANS_GRACE_NS + 2;
    if (ranking_find_hash(&s->list, from, hash) == RANKING_NONE && !is_seen_again(s, hash)) return;
    uint16_t const     i = ranking_count(&s->list, from, 1, &has_entered);
    scan_source *const source = &s->sources[i];
    if (has_entered)
        source_begin(source, now_ns);
    else
        source_advance(s, i, now_ns);
    source_count(s, source, to, has_entered ? 2 : 1);
    s->tried[i] = has_entered ? 2 : s->tried[i] + 1;
}

void scans_answer(scans *s, const host_end *from, const host_end *to, uint64_t now_ns) {
    uint16_t const i = ranking_find(&s->list, from);
    if (i == RANKING_NONE) return;
    uint64_t const     target = hash_target(ranking_hash(&s->list, to->address), hash_port(s, to));
    scan_source *const source = &s->sources[i];
    source_advance(s, i, now_ns);
    source->is_settled = false;
    if (source->votes != 0 && target == source->target_hash) source->votes--;
    source->answers[source->piece % SCANS_PIECES]++;
    scans_register(source->pieces[source->piece % SCANS_PIECES].answered, target);
}

/* ------------------------------------------------------------------ judging */

/* Attempts that may still be answered. */
static uint32_t count_young(const scan_source *source, uint64_t slot) {
    if (slot == source->slot) return source->young[0] + source->young[1];
    return slot == source->slot + 1 ? source->young[0] : 0;
}

static scan_verdict judge_source(const scan_source *source, uint32_t young) {
    scan_registers all;
    uint64_t const attempts = count_attempts(source, SCAN_WINDOW);
    uint64_t const answers = count_answers(source, SCAN_WINDOW);
    uint64_t const old = attempts > young ? attempts - young : 0;
    uint64_t const unanswered = old > answers ? old - answers : 0;
    if (unanswered < SCANS_ATTEMPTS) return SCAN_NONE;
    add_pieces(source, SCAN_WINDOW, &all);
    double const targets = fmin(scans_estimate(all.targets), (double)attempts);
    double const in_vain = targets - fmin(scans_estimate(all.answered), (double)answers);
    if (in_vain >= fmax(SCANS_TARGETS, targets / SCANS_UNANSWERED_ONE_IN)) return SCAN_LIKELY;
    return unanswered * SCANS_UNANSWERED_ONE_IN >= old ? SCAN_RETRIES : SCAN_NONE;
}

/* A source is judged by its last window, whenever that was. */
void scans_judge(scans *s, uint64_t now_ns, bool is_last, scans_found *on_found, void *context) {
    uint64_t const slot = now_ns / SCANS_GRACE_NS;
    if ((slot == s->slot || s->slot >= s->busy_until) && !is_last) return;
    s->slot = slot;
    for (uint16_t i = 0; i < s->list.n; i++) {
        scan_source *const source = &s->sources[i];
        if (s->tried[i] < SCANS_ATTEMPTS || source->is_settled) continue;
        uint32_t const     young = is_last ? 0 : count_young(source, slot);
        scan_verdict const verdict = judge_source(source, young);
        source->is_settled = young == 0;
        source->latest = verdict;
        if (verdict > source->verdict) source->verdict = verdict;
        if (verdict <= source->told) continue;
        source->told = verdict;
        source->is_recent = true;
        s->n_scans += verdict == SCAN_LIKELY;
        s->n_retries += verdict == SCAN_RETRIES;
        if (on_found != NULL) on_found(context, i);
    }
}

static bool has_verdict(const scan_source *source, scan_verdict verdict, scan_span span) {
    if (span == SCAN_ALL) return source->verdict == verdict;
    return source->latest == verdict && source->is_recent;
}

size_t scans_list(const scans *s, scan_verdict verdict, scan_span span, uint16_t *ret_sources,
                  size_t max) {
    uint64_t values[RANKING_HOSTS];
    for (size_t i = 0; i < s->list.n; i++) {
        const scan_source *const source = &s->sources[i];
        values[i] = has_verdict(source, verdict, span) ? count_attempts(source, span) : 0;
    }
    return ranking_sort(&s->list, values, ret_sources, max);
}

void scans_begin_interval(scans *s) {
    for (size_t i = 0; i < s->list.n; i++) s->sources[i].is_recent = false;
}
