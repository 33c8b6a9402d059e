/* states_handle.c - tables of states as handles: making, copying, freeing, saving, opening.
 *
 * One handle has two names in the header, so that the compiler tells sets from states. The
 * functions of sets (make.c, save.c, open.c) serve both; what they make is handed over here under
 * the other name.
 */
#include "states_door.h"

static_assert(sizeof(tamis_states) == sizeof(tamis_set) && offsetof(tamis_states, set) == 0,
              "one handle, two names");

static const tamis_set *states_as_set(const tamis_states *states) {
    return states != NULL ? &states->set : NULL;
}

static tamis_status states_hand_over(tamis_status status, tamis_set *set,
                                     tamis_states **ret_states) {
    if (status == TAMIS_OK) *ret_states = (tamis_states *)(void *)set;
    return status;
}

void tamis_states_free(tamis_states *states) {
    if (states != NULL) tamis_free(&states->set);
}

bool tamis_states_validate(const tamis_states *states, const char **reterr_why) {
    return tamis_validate(states_as_set(states), reterr_why);
}

tamis_status tamis_states_clear(tamis_states *states) {
    tamis_status const checked = states_check(states);
    return checked == TAMIS_OK ? tamis_clear(&states->set) : checked;
}

tamis_status tamis_states_create(const tamis_states_spec *spec, tamis_states **ret_states,
                                 tamis_problem *reterr_problem) {
    tamis_request request;
    tamis_set    *set = NULL;
    tamis_status  status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_states == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "ret_states is NULL");
    }
    status = tamis_make_requested(&request, &set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_copy(const tamis_states *states, tamis_states **ret_copy) {
    tamis_set *copy = NULL;
    if (ret_copy == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = tamis_copy(states_as_set(states), &copy);
    return states_hand_over(status, copy, ret_copy);
}

tamis_status tamis_states_save(const tamis_states *states, const char *path,
                               tamis_problem *reterr_problem) {
    return tamis_save(states_as_set(states), path, reterr_problem);
}

tamis_status tamis_states_write(const tamis_states *states, tamis_writer *writer, void *context) {
    return tamis_write(states_as_set(states), writer, context);
}

tamis_status tamis_states_open(const char *path, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_open(path, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_open_fd(int fd, const tamis_open_options *options,
                                  tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_open_fd(fd, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_read(const void *bytes, size_t n, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_read(bytes, n, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}
