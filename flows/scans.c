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
static void register_add(uint8_t *registers, uint64_t hash) {
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

/* There cannot be more hosts than attempts. Without a second attempt, registers are not used. */
double scans_hosts(const scan_source *source) {
    if (source->attempts < 2) return (double)source->attempts;
    return fmin(scans_estimate(source->hosts), (double)source->attempts);
}

double scans_ports(const scan_source *source) {
    if (source->attempts < 2) return (double)source->attempts;
    return fmin(scans_estimate(source->ports), (double)source->attempts);
}

/* Different targets in the window. */
static double count_targets(const scan_source *source) {
    uint8_t both[SCANS_REGISTERS];
    for (unsigned i = 0; i < SCANS_REGISTERS; i++) {
        uint8_t const now = source->targets_now[i], before = source->targets_before[i];
        both[i] = now > before ? now : before;
    }
    return scans_estimate(both);
}

/* ------------------------------------------------------------------ time */

/* Let the window and the young attempts of a source move on. */
static void source_advance(scan_source *source, uint64_t now_ns) {
    uint64_t const half = now_ns / SCANS_HALF_NS, slot = now_ns / SCANS_GRACE_NS;
    if (half != source->half) {
        bool const is_next = half == source->half + 1;
        if (!is_next) source->told = SCAN_NONE; /* the next scan is another one */
        source->before = is_next ? source->now : (scan_half){ 0, 0 };
        source->now = (scan_half){ 0, 0 };
        if (is_next) memcpy(source->targets_before, source->targets_now, SCANS_REGISTERS);
        if (!is_next) memset(source->targets_before, 0, SCANS_REGISTERS);
        memset(source->targets_now, 0, SCANS_REGISTERS);
        source->half = half;
    }
    if (slot == source->slot) return;
    source->young[1] = slot == source->slot + 1 ? source->young[0] : 0;
    source->young[0] = 0;
    source->slot = slot;
}

/* ------------------------------------------------------------------ counting */

/* Only what is needed for one attempt: most sources of a flood make no more. The registers, and the
 * half before, are cleared with the second one. */
static void source_begin(scan_source *source, uint64_t now_ns) {
    source->verdict = source->told = SCAN_NONE;
    source->attempts = source->answers = 0;
    source->half = now_ns / SCANS_HALF_NS;
    source->slot = now_ns / SCANS_GRACE_NS;
    source->young[0] = source->young[1] = 0;
    source->now = source->before = (scan_half){ 0, 0 };
}

static void source_add_target(const scans *s, scan_source *source, const host_end *to) {
    uint64_t const host = ranking_hash(&s->list, to->address);
    uint64_t const port = XXH3_64bits_withSeed(&to->port, sizeof to->port, s->list.seed);
    register_add(source->hosts, host);
    register_add(source->ports, port);
    register_add(source->targets_now, XXH64(&port, sizeof port, host));
}

static void source_clear_registers(scan_source *source) {
    memset(source->hosts, 0, sizeof source->hosts);
    memset(source->ports, 0, sizeof source->ports);
    memset(source->targets_now, 0, sizeof source->targets_now);
    memset(source->targets_before, 0, sizeof source->targets_before);
}

void scans_attempt(scans *s, const host_end *from, const host_end *to, uint64_t now_ns) {
    bool               has_entered;
    uint16_t const     i = ranking_count(&s->list, from, 1, &has_entered);
    scan_source *const source = &s->sources[i];
    if (has_entered) source_begin(source, now_ns);
    if (source->attempts == 1) {
        source_clear_registers(source);
        source_add_target(s, source, &source->last);
    }
    if (!has_entered) source_advance(source, now_ns);
    if (source->attempts != 0) source_add_target(s, source, to);
    s->busy_until = now_ns / SCANS_GRACE_NS + 2;
    source->last = *to;
    source->attempts++;
    source->now.attempts++;
    source->young[0]++;
}

void scans_answer(scans *s, const host_end *from, uint64_t now_ns) {
    uint16_t const i = ranking_find(&s->list, from);
    if (i == RANKING_NONE) return;
    source_advance(&s->sources[i], now_ns);
    s->sources[i].answers++;
    s->sources[i].now.answers++;
}

/* ------------------------------------------------------------------ judging */

/* Attempts that may still be answered. */
static uint32_t count_young(const scan_source *source, uint64_t slot) {
    if (slot == source->slot) return source->young[0] + source->young[1];
    return slot == source->slot + 1 ? source->young[0] : 0;
}

static scan_verdict judge_source(const scan_source *source, uint32_t young) {
    uint32_t const all = source->now.attempts + source->before.attempts;
    uint32_t const old = all > young ? all - young : 0;
    uint32_t const answers = source->now.answers + source->before.answers;
    uint32_t const unanswered = old > answers ? old - answers : 0;
    if (unanswered < SCANS_ATTEMPTS || unanswered * SCANS_UNANSWERED_ONE_IN < old) return SCAN_NONE;
    double const targets = fmin(count_targets(source), all);
    double const in_vain = targets - answers;
    return in_vain >= fmax(SCANS_TARGETS, targets / 4) ? SCAN_LIKELY : SCAN_RETRIES;
}

/* A source is judged by its last window, whenever that was. */
void scans_judge(scans *s, uint64_t now_ns, bool is_last, scans_found *on_found, void *context) {
    uint64_t const slot = now_ns / SCANS_GRACE_NS;
    if ((slot == s->slot || s->slot >= s->busy_until) && !is_last) return;
    s->slot = slot;
    for (uint16_t i = 0; i < s->list.n; i++) {
        scan_source *const source = &s->sources[i];
        if (source->now.attempts + source->before.attempts < SCANS_ATTEMPTS) continue;
        scan_verdict const verdict = judge_source(source, is_last ? 0 : count_young(source, slot));
        if (verdict > source->verdict) source->verdict = verdict;
        if (verdict <= source->told) continue;
        source->told = verdict;
        if (on_found != NULL) on_found(context, i);
    }
}

size_t scans_list(const scans *s, scan_verdict verdict, uint16_t *ret_sources, size_t max) {
    uint64_t values[RANKING_HOSTS];
    for (size_t i = 0; i < s->list.n; i++)
        values[i] = s->sources[i].verdict == verdict ? s->sources[i].attempts : 0;
    return ranking_sort(&s->list, values, ret_sources, max);
}
