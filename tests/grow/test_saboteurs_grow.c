/* test_saboteurs_grow.c - growing with one function broken: a law must notice it. */
#include "sabotage.h"

static tamis_status forgets_a_bucket(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    return bucket % 7 == 3 ? TAMIS_OK : honest->growing->carry(from, bucket, to);
}

static tamis_status carries_twice(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    tamis_status const status = honest->growing->carry(from, bucket, to);
    return status == TAMIS_OK ? honest->growing->carry(from, bucket, to) : status;
}

static tamis_status finds_no_room(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    (void)from;
    (void)bucket;
    (void)to;
    return TAMIS_ERR_FULL;
}

static void leaves_all_behind(tamis_table *table, uint64_t first, uint64_t n) {
    (void)table;
    (void)first;
    (void)n;
}

static void wipes_too_much(tamis_table *table, uint64_t first, uint64_t n) {
    honest->growing->wipe(table, first, n);
    if (first + n + 16 <= table->geometry[0]) honest->growing->wipe(table, first + n, 16);
}

static uint64_t counts_copies(const tamis_table *table) {
    return honest->growing->entries(table) + 1000 * table->saturated;
}

/* Filled from the honest kind, with one function replaced. */
static kind_growing forgetting, doubling, refusing, leaving, wiping, counting;

#define SABOTEUR_OF_STEPS(law, broken_steps) \
    {                                        \
        law, NULL, #broken_steps, {          \
            .growing = &(broken_steps)       \
        }                                    \
    }

static const saboteur saboteurs[] = {
    SABOTEUR_OF_STEPS("no_false_negative_under_churn", forgetting),
    SABOTEUR_OF_STEPS("copies_and_clears_are_exact", forgetting),
    SABOTEUR_OF_STEPS("no_false_negative_under_churn", doubling),
    SABOTEUR_OF_STEPS("refused_adds_change_nothing", refusing),
    SABOTEUR_OF_STEPS("every_moment_of_a_step_is_whole", leaving),
    SABOTEUR_OF_STEPS("every_moment_of_a_step_is_whole", forgetting),
    SABOTEUR_OF_STEPS("every_moment_of_a_step_is_whole", wiping),
    SABOTEUR_OF_STEPS("no_false_negative_under_churn", wiping),
    SABOTEUR_OF_STEPS("floods_harm_no_other_key", counting),
};

int main(void) {
    static const subject variant = { .kind = "line",
                                     .capacity = 1500,
                                     .grow_to = 12000,
                                     .fpr = 0.001,
                                     .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
                                     .operations = 20000 };
    if (tamis_kind_find(variant.kind, NULL, &honest) != TAMIS_OK) return 1;
    forgetting = doubling = refusing = leaving = wiping = counting = *honest->growing;
    forgetting.carry = forgets_a_bucket;
    doubling.carry = carries_twice;
    refusing.carry = finds_no_room;
    leaving.wipe = leaves_all_behind;
    wiping.wipe = wipes_too_much;
    counting.entries = counts_copies;
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), NULL, 0);
}
