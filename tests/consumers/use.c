/* use.c - a program in C that uses the installed library, as a user would write it. */
#include <tamis/tamis.h>

int main(void) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set;
    spec.capacity = 100;
    spec.fpr = 0.01;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return 1;
    bool const is_good = tamis_add(set, "a", 1) == TAMIS_OK && tamis_has(set, "a", 1);
    tamis_free(set);
    return is_good ? 0 : 1;
}
