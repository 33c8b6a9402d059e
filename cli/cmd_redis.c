/* cmd_redis.c - tamis redis: one set over the nodes of a Redis cluster. redis_run.c does the work.
 */
#include "commands.h"

#include "redis_run.h"

const command command_redis = {
    .name = "redis",
    .operands = "load|has|count|remove|info|import|export NAME [KEYS...|FILE] ",
    .summary = "Keep one set in the shards of a Redis cluster that has the tamis module",
    .text = "A set NAME is spread over --shards keys of the cluster, each a part of the set. Each\n"
            "line goes to the node that has its part. 'load' makes the set if there is none, and\n"
            "adds lines; without -n it grows. 'has', 'count' and 'remove' are as for files.\n"
            "'import' makes a set from a file, 'export' a file from a set; both are exact and do\n"
            "not need the keys. Lines are sent in windows. A window is done when --wait replicas\n"
            "have it (default: 1; 0 for a single server). If a node fails before that, its\n"
            "requests are sent again to its successor; each takes effect once. A line that is\n"
            "done survives the loss of one node (docs/cluster.md has the exceptions). With\n"
            "--journal, 'load' and 'remove' can be killed and run again with the same input.\n",
    .examples = "  tamis redis load --cluster 10.0.0.1:6379 --shards 64 -n 100M seen <keys.txt\n"
                "  tamis redis has --cluster 10.0.0.1:6379 seen <some.txt\n"
                "  tamis redis info --cluster 10.0.0.1:6379 seen\n"
                "  tamis redis export --cluster 10.0.0.1:6379 seen seen.tamis\n",
    .options = OPTION_BIT(CLUSTER) | OPTION_BIT(SHARDS) | OPTION_BIT(WAIT) | OPTION_BIT(WINDOWS) |
               OPTION_BIT(JOURNAL) | OPTION_BIT(USER) | OPTION_BIT(PASSWORD_FILE) |
               OPTION_BIT(TLS) | OPTION_BIT(CA_FILE) | OPTION_BIT(CERT_FILE) |
               OPTION_BIT(KEY_FILE) | OPTION_BIT(TLS_NAME) | OPTION_BIT(CAPACITY) |
               OPTION_BIT(GROW_TO) | OPTION_BIT(FPR) | OPTION_BIT(COUNT) | OPTION_BIT(KIND) |
               OPTION_BIT(SEED) | OPTION_BIT(NULL) | OPTION_BIT(INVERT) | OPTION_BIT(FORCE) |
               OPTION_BIT(QUIET),
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = redis_run,
};
