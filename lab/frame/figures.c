/* figures.c - the curves of a run, for programs: as CSV, and within the JSON. */
#include "lab.h"

#include <string.h>

/* ------------------------------------------------------------------ curves, as CSV */

static void curves_begin(FILE *to) {
    (void)fputs("experiment,figure,curve,x,y,sigma\n", to);
}

static void curves_experiment(FILE *to, const lab_run *run, unsigned index) {
    (void)index;
    for (size_t i = 0; i < run->n_marks; i++) {
        const lab_mark *const  mark = &run->marks[i];
        const lab_point *const point = &mark->point;
        (void)fprintf(to, "%s,%s,", run->experiment->id, point->figure);
        lab_csv_text(to, point->curve);
        (void)fprintf(to, ",%.6g,%.6g,", point->x, point->y);
        if (mark->sigma > 0) (void)fprintf(to, "%.3g", mark->sigma);
        (void)fputc('\n', to);
    }
}

static void curves_end(FILE *to, const lab_tally *tally) {
    (void)to;
    (void)tally;
}

const lab_format lab_curves = { curves_begin, curves_experiment, curves_end };

/* ------------------------------------------------------------------ figures, as JSON */

/* Is it the first point of its figure, or of its curve there? */
static bool is_first(const lab_run *run, size_t i, bool of_curve) {
    const lab_point *const point = &run->marks[i].point;
    for (size_t k = 0; k < i; k++) {
        const lab_point *const other = &run->marks[k].point;
        if (strcmp(other->figure, point->figure) == 0 &&
            (!of_curve || strcmp(other->curve, point->curve) == 0)) {
            return false;
        }
    }
    return true;
}

static void print_points(FILE *to, const lab_run *run, const lab_point *like) {
    const char *comma = "";
    for (size_t i = 0; i < run->n_marks; i++) {
        const lab_mark *const mark = &run->marks[i];
        if (strcmp(mark->point.figure, like->figure) != 0 ||
            strcmp(mark->point.curve, like->curve) != 0) {
            continue;
        }
        (void)fprintf(to, "%s[%.6g, %.6g, %.3g]", comma, mark->point.x, mark->point.y, mark->sigma);
        comma = ", ";
    }
}

static void print_curves(FILE *to, const lab_run *run, const char *figure) {
    const char *comma = "\n      ";
    for (size_t i = 0; i < run->n_marks; i++) {
        const lab_point *const point = &run->marks[i].point;
        if (strcmp(point->figure, figure) != 0 || !is_first(run, i, true)) continue;
        (void)fprintf(to, "%s{\"name\": ", comma);
        lab_json_text(to, point->curve);
        (void)fputs(", \"points\": [", to);
        print_points(to, run, point);
        (void)fputs("]}", to);
        comma = ",\n      ";
    }
}

static lab_figure description_of(const lab_run *run, const char *name) {
    for (size_t i = 0; i < run->n_figures; i++) {
        if (strcmp(run->figures[i].name, name) == 0) return run->figures[i];
    }
    return (lab_figure){ .name = name, .title = name, .x = "", .y = "" };
}

static void print_text_member(FILE *to, const char *name, const char *text) {
    (void)fprintf(to, "\"%s\": ", name);
    lab_json_text(to, text != NULL ? text : "");
    (void)fputs(", ", to);
}

/* Print each figure with its description and its curves, in the order of their first points. */
void lab_json_figures(FILE *to, const lab_run *run) {
    const char *comma = "\n    ";
    for (size_t i = 0; i < run->n_marks; i++) {
        if (!is_first(run, i, false)) continue;
        lab_figure const figure = description_of(run, run->marks[i].point.figure);
        (void)fprintf(to, "%s{", comma);
        print_text_member(to, "name", figure.name);
        print_text_member(to, "title", figure.title);
        print_text_member(to, "x", figure.x);
        print_text_member(to, "y", figure.y);
        print_text_member(to, "remark", figure.remark);
        (void)fprintf(to, "\"log_x\": %s, \"log_y\": %s, \"curves\": [",
                      figure.is_log_x ? "true" : "false", figure.is_log_y ? "true" : "false");
        print_curves(to, run, figure.name);
        (void)fputs("]}", to);
        comma = ",\n    ";
    }
}
