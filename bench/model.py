"""The cost model: an operation costs its instructions, plus a number of lines times the cost of a line.

    cost(operation, s) = a + k (line(s) - line in the first cache)

s is the size of the table in bytes. line(s) is the cost of one random line of a table of that size, in
a loop that does nothing else (the ceiling of the bench):

    line(s) = c0 + c1 miss(L1) + c2 miss(L2) + c3 miss(L3) + c4 doublings of s beyond L3
    miss(L) = 1 - L / s if s > L, else 0: a random line of s bytes is not among the L bytes in the cache

All coefficients are fitted to measured costs by least squares of the relative error, and none is
negative. The last term is the cost of page tables, which grow with the table.
"""
import itertools
import math

import runs

LEVELS = ["in L1", "from L2", "from L3", "from memory", "each doubling beyond L3"]


def features(size_bytes, caches):
    misses = [max(0.0, 1 - cache / size_bytes) if cache else 0.0 for cache in caches]
    return [1.0, *misses, max(0.0, math.log2(size_bytes / (caches[-1] or 2**25)))]


def solve(matrix, right):
    """Gaussian elimination. None if the matrix is singular."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-12:
            return None
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i])]
    answer = [0.0] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * answer[j] for j in range(i + 1, n))
        answer[i] = (rows[i][n] - rest) / rows[i][i]
    return answer


def least_squares(points, columns):
    """The coefficients of these columns that fit points [(features, cost)], by relative error."""
    scaled = [([row[c] / cost for c in columns], 1.0) for row, cost in points]
    n = len(columns)
    matrix = [[sum(row[i] * row[j] for row, _ in scaled) for j in range(n)] for i in range(n)]
    return solve(matrix, [sum(row[i] * one for row, one in scaled) for i in range(n)])


def value(coefficients, row):
    return sum(c * x for c, x in zip(coefficients, row))


def fit(points):
    """Least squares without negative coefficients: the best of all subsets of columns."""
    best, best_error = None, math.inf
    width = len(points[0][0])
    for k in range(1, min(width, len(points)) + 1):
        for columns in itertools.combinations(range(width), k):
            answer = least_squares(points, columns)
            if answer is None or min(answer) < 0:
                continue
            full = [0.0] * width
            for column, coefficient in zip(columns, answer):
                full[column] = coefficient
            error = sum((value(full, row) / cost - 1) ** 2 for row, cost in points)
            if error < best_error - 1e-12:
                best, best_error = full, error
    return best


def worst_error(coefficients, points):
    return max(abs(value(coefficients, row) / cost - 1) for row, cost in points)


def caches_of(run):
    return run["machine"]["cache_bytes"]


def line_points(all_runs, mode, operation):
    """The costs of bare lines in all runs with default pages."""
    points = []
    for name in ["small", "peers", "large"]:
        run = all_runs.get(name, {"sizes": []})
        for size in run["sizes"]:
            for row in runs.rows_of(size, "ceiling"):
                cost = runs.cost_of(row, mode, operation)
                if cost:
                    points.append((features(row["bytes"], caches_of(run)), cost))
    return points


def bare_operation(operation):
    """The operation on bare lines to compare with: reading or changing."""
    return "has_present" if operation.startswith("has") else "fill"


class LineCost:
    """line(s) for one mode and operation. `extra` leaves out the cost in the first cache."""

    def __init__(self, all_runs, mode, operation):
        self.points = line_points(all_runs, mode, bare_operation(operation))
        self.coefficients = fit(self.points) if self.points else None
        self.caches = next((caches_of(run) for run in all_runs.values()), [0, 0, 0])

    def extra(self, size_bytes):
        return value([0.0, *self.coefficients[1:]], features(size_bytes, self.caches))


class OperationCost:
    """a and k of one entry, and the cost that they predict."""

    def __init__(self, all_runs, grown, mode, operation):
        self.line = LineCost(all_runs, mode, operation)
        self.measured = [(n, row["bytes"], runs.cost_of(row, mode, operation)) for n, row, _ in grown]
        self.measured = [point for point in self.measured if point[2]]
        self.points = [([1.0, self.line.extra(size)], cost) for _, size, cost in self.measured]
        self.fitted = fit(self.points) if self.points else None
        if self.measured:
            n, size, _ = self.measured[-1]
            self.bytes_per_key = size / n

    def at(self, n):
        return value(self.fitted, [1.0, self.line.extra(n * self.bytes_per_key)])

    def worst(self):
        return worst_error(self.fitted, self.points)
