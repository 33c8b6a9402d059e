/* test_cpp.cpp - tamis.hpp, in C++17, 20 and 23, with and without exceptions. Speaks TAP. */
#include <tamis/tamis.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>
#if __cplusplus >= 202002L
#include <span>
/* clang before 16 cannot compile the views of the libstdc++ of gcc 12. */
#if !defined(__clang__) || __clang_major__ >= 16
#include <ranges>
#define HAS_VIEWS 1
#endif
#endif

static int  tests, failures;
static bool is_good;

#define CHECK(condition)                                                  \
    do {                                                                  \
        if (!(condition)) {                                               \
            std::printf("# line %d: %s is false\n", __LINE__, #condition); \
            is_good = false;                                              \
        }                                                                 \
    } while (0)

template <class Test> static void run(const char *name, Test test) {
    is_good = true;
    test();
    std::printf("%s %d - %s\n", is_good ? "ok" : "not ok", ++tests, name);
    failures += is_good ? 0 : 1;
}

/* Count the allocations of C++: the header must not make any. */
static std::atomic<long> allocations;
__attribute__((noinline)) void *operator new(std::size_t bytes) {
    allocations++;
    if (void *const memory = std::malloc(bytes)) return memory;
    std::abort();
}
__attribute__((noinline)) void operator delete(void *memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

/* Each process has its own file name, since several run at the same time. */
static std::string scratch_file(const char *name) {
    const char *const folder = std::getenv("TMPDIR");
    return std::string(folder != nullptr ? folder : "/tmp") + "/tamis-cpp-" + name + "-" + std::to_string(getpid());
}

static tamis::spec wishes() { return tamis::spec().capacity(2000).fpr(1e-6).remove(); }

static_assert(!std::is_copy_constructible_v<tamis::set> && !std::is_copy_assignable_v<tamis::set>);
static_assert(std::is_nothrow_move_constructible_v<tamis::set>);
static_assert(sizeof(tamis::set) == sizeof(void *) && sizeof(tamis::states<int>) == sizeof(void *));

enum class colour : std::uint16_t { red, green = 500 };

static void keys_of_every_sort() {
    tamis::set s = std::move(*tamis::set::try_make(wishes()));
    std::vector<unsigned char> const bytes{ 'p', 'l', 'u', 'm' };
    std::array<char, 4> const        array{ { 'p', 'l', 'u', 'm' } };
    CHECK(!s.has("plum"));
    CHECK(s.try_add("plum"));
    CHECK(s.has("plum") && s.has(std::string("plum")) && s.has(std::string_view("plum")));
    CHECK(s.has(bytes) && s.has(array) && !s.has("plu"));
    CHECK(::tamis_has(s.get(), "plum", 4)); /* without the terminating zero */
    CHECK(s.try_add(17));
    CHECK(s.has(17u) && s.has(std::int8_t{ 17 }) && s.has(std::uint64_t{ 17 }) && !s.has("17"));
    CHECK(s.try_add(-1));
    CHECK(s.has(std::int64_t{ -1 }) && s.has(UINT64_MAX) && !s.has(UINT32_MAX));
    CHECK(s.try_add(colour::green));
    CHECK(s.has(500) && s.has(colour::green) && !s.has(colour::red));
    std::vector<std::uint32_t> const words{ 1, 2 };
    CHECK(s.try_add(words)); /* one key of 8 bytes */
    CHECK(s.has(words) && s.size() == 5);
#if __cplusplus >= 202002L
    static_assert(tamis::key<int> && tamis::key<std::string> && tamis::key<const char *>);
    static_assert(!tamis::key<double> && !tamis::key<std::vector<double>> && !tamis::key<bool>);
    CHECK(s.has(std::span(bytes)) && s.has(std::as_bytes(std::span(bytes))));
#endif
}

static void results_say_what_happened() {
    tamis::set s = std::move(*tamis::set::try_make(wishes()));
    CHECK(s.try_remove("nobody").status() == TAMIS_ERR_ABSENT);
    CHECK(std::string_view(s.try_remove("nobody").text()).size() > 5);
    tamis::result<bool> const first = s.try_add_new("a"), second = s.try_add_new("a");
    CHECK(first && *first && second && !*second);
    CHECK(s.try_remove("a") && !s.has("a"));
    tamis::problem why{};
    auto const     refused = tamis::set::try_make(tamis::spec().capacity(10).fpr(7), &why);
    CHECK(!refused && refused.status() == TAMIS_ERR_ARGUMENT && why.text[0] != '\0');
    CHECK(tamis::set::try_open("/no/such/file", 0, &why).status() == TAMIS_ERR_IO && why.os_error != 0);
}

static void moved_and_empty_handles() {
    tamis::set a = std::move(*tamis::set::try_make(wishes()));
    CHECK(a.try_add(1));
    tamis::set b = std::move(a);
    CHECK(b.has(1) && b.size() == 1);
    tamis::set const empty;
    CHECK(!empty && empty.size() == 0 && empty.get() == nullptr);
    tamis::set c(b.release());
    CHECK(!b && c && c.has(1));
}

static void batches_of_every_range() {
    tamis::set                 s = std::move(*tamis::set::try_make(wishes()));
    std::vector<std::uint64_t> ids(600);
    std::iota(ids.begin(), ids.end(), 0u);
    CHECK(s.try_add_all(ids).done == 600);
    std::vector<int> const negative{ -1, -2, -3 };
    CHECK(s.try_add_all(negative) && s.has(-2));
    std::vector<std::string> words;
    for (int i = 0; i < 600; i++) words.push_back("word " + std::to_string(i));
    CHECK(s.try_add_all(words).done == 600 && s.has("word 599"));
    std::list<std::string_view> const views(words.begin(), words.begin() + 10);
    CHECK(s.has_all(views) == 10);
    std::set<int> const numbers{ 1, 2, 3, 100000 };
    bool                found[4];
    CHECK(s.has_all(numbers, found) == 3 && found[0] && found[2] && !found[3]);
    bool       removed[600];
    auto const removal = s.try_remove_all(words, removed);
    CHECK(removal && removal->removed == 600 && removal->absent == 0 && removed[599]);
    CHECK(s.size() == 603);
    CHECK(s.try_remove_all(words)->absent == 600);
    const char *const literals[] = { "a", "b" };
    CHECK(s.try_add_all(literals) && s.has("b"));
#if __cplusplus >= 202002L
    CHECK(s.has_all(std::span(ids).first(5)) == 5);
#endif
#ifdef HAS_VIEWS
    CHECK(s.has_all(std::views::iota(0, 700)) == 600);
#endif
    tamis::batch_result const full = s.try_add_all(std::vector<int>(1, 5));
    CHECK(full);
    std::vector<std::uint64_t> many(100000);
    std::iota(many.begin(), many.end(), 1000000u);
    tamis::batch_result const stopped = s.try_add_all(many);
    CHECK(!stopped && stopped.status == TAMIS_ERR_FULL && stopped.done < many.size());
    CHECK(s.has(many[stopped.done - 1]));
}

/* A range of one pass: its iterator has room for one element, as std::istream_iterator. */
struct words_of_a_text {
    std::istream &from;
    auto          begin() const { return std::istream_iterator<std::string>(from); }
    auto          end() const { return std::istream_iterator<std::string>(); }
};

/* A range that makes each element when it is asked for it. */
struct made_words {
    struct iterator {
        using iterator_category = std::forward_iterator_tag;
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = std::string;
        int         i = 0;
        std::string operator*() const { return "a word that needs memory of its own " + std::to_string(i); }
        iterator   &operator++() { return i++, *this; }
        iterator    operator++(int) { return { i++ }; }
        bool        operator==(const iterator &other) const { return i == other.i; }
        bool        operator!=(const iterator &other) const { return i != other.i; }
    };
    int      n;
    iterator begin() const { return { 0 }; }
    iterator end() const { return { n }; }
};

static void batches_of_elements_that_do_not_stay() {
    tamis::set         s = std::move(*tamis::set::try_make(wishes()));
    std::istringstream text("one two three four a_long_word_that_has_memory_of_its_own last");
    CHECK(s.try_add_all(words_of_a_text{ text }).done == 6);
    for (const char *word : { "one", "two", "three", "four", "a_long_word_that_has_memory_of_its_own", "last" })
        CHECK(s.has(word));
    CHECK(s.try_add_all(made_words{ 600 }).done == 600 && s.has_all(made_words{ 600 }) == 600);
    CHECK(s.has(*made_words{ 1 }.begin()) && s.size() == 606);
    auto const removal = s.try_remove_all(made_words{ 600 });
    CHECK(removal && removal->removed == 600 && s.size() == 6);
#ifdef HAS_VIEWS
    auto const longer = [](int i) { return "a word that is made in a view " + std::to_string(i); };
    CHECK(s.try_add_all(std::views::iota(0, 300) | std::views::transform(longer)).done == 300);
    CHECK(s.has(longer(0)) && s.has(longer(299)));
#endif
}

static void nothing_is_allocated_by_the_header() {
    tamis::set                     s = std::move(*tamis::set::try_make(wishes()));
    std::vector<int> const         numbers(700, 3);
    std::vector<std::string> const words(5, "a word that is longer than what fits into a string itself");
    long const                     before = allocations;
    CHECK(s.try_add_all(words) && s.has_all(numbers) == 0 && s.try_add(5) && s.try_remove(5));
    tamis::set moved = std::move(s);
    CHECK(moved.try_merge(moved).status() == TAMIS_ERR_ARGUMENT);
    CHECK(allocations == before);
}

static void counters_count() {
    tamis::counter c = std::move(*tamis::counter::try_make(wishes().count_to(1000)));
    CHECK(c.try_add_copies("a", 900) && c.try_add("a"));
    CHECK(*c.try_count("a") == 901 && *c.try_count(5) == 0);
    CHECK(c.try_add_copies(5, 5000) && *c.try_count(5) == TAMIS_COUNT_MANY);
}

static void counters_are_counters_after_a_file_and_a_copy() {
    tamis::counter c = std::move(*tamis::counter::try_make(wishes().count_to(1000)));
    std::vector<std::string> words;
    for (int i = 0; i < 600; i++) words.push_back("word " + std::to_string(i % 300));
    CHECK(c.try_add_all(words));
    std::vector<std::uint64_t> counts(words.size());
    CHECK(c.try_count_all(words, counts.data()));
    CHECK(std::all_of(counts.begin(), counts.end(), [](std::uint64_t n) { return n == 2; }));
    std::string const path = scratch_file("counter");
    CHECK(c.try_save(path.c_str()));
    tamis::result<tamis::counter> opened = tamis::counter::try_open(path.c_str());
    CHECK(opened && *opened->try_count("word 299") == 2);
    std::remove(path.c_str());
    tamis::result<tamis::counter> copied = c.try_copy(), like = c.try_make_like();
    CHECK(copied && like && *copied->try_count("word 0") == 2 && *like->try_count("word 0") == 0);
    CHECK(like->try_merge(*copied) && *like->try_count("word 0") == 2);
}

static void inserting_without_exceptions() {
    tamis::set          s = std::move(*tamis::set::try_make(wishes().capacity(1000)));
    tamis::batch_result done;
    std::generate_n(s.try_inserter(done), 500, [i = 0]() mutable { return i++; });
    CHECK(done && done.done == 500 && s.size() == 500);
    std::generate_n(s.try_inserter(done), 100000, [i = 500]() mutable { return i++; });
    CHECK(!done && done.status == TAMIS_ERR_FULL && done.done == s.size());
#if __cplusplus >= 202002L
    static_assert(std::output_iterator<tamis::set::try_insert_iterator, const std::string &>);
#endif
}

enum class phase { queued, running, failed };

static void states_of_an_enum() {
    using table = tamis::states<phase>;
    table s = std::move(*table::try_make(tamis::states_spec().capacity(1000).values(3).fpr(1e-6).timeout(10)));
    CHECK(s.get("job").is_absent());
    CHECK(s.try_put("job", phase::queued) && s.get("job") == phase::queued);
    CHECK(s.try_put("job", phase::failed).status() == TAMIS_ERR_CONFLICT);
    CHECK(s.try_move("job", phase::queued, phase::running) && *s.get("job") == phase::running);
    CHECK(s.try_set(17, phase::failed) && s.get(17) == phase::failed && s.size() == 2);
    CHECK(s.try_drop(17) && !s.get(17) && s.try_touch("job"));
    CHECK(s.try_tick(20) && s.get("job").is_absent());
}

/* 2^32 + 1 is not 1. */
static void large_values_are_refused() {
    auto const                       few = tamis::states_spec().capacity(100).values(4).fpr(0.001);
    auto                             made = tamis::states<std::uint64_t>::try_make(few);
    tamis::states<std::uint64_t>    &t = *made;
    std::uint64_t const              one = 1, large = (one << 32) + 1;
    std::vector<int> const           keys{ 1, 2, 3 }, four{ 4 };
    std::vector<std::uint64_t> const values{ 1, large, 2 };
    std::vector<tamis::status>       statuses(3);
    auto const to_large = [=](std::size_t, tamis::answer<std::uint64_t>) noexcept { return tamis::set_to(large); };
    CHECK(t.try_put(1, large).status() == TAMIS_ERR_ARGUMENT && t.get(1).is_absent());
    (void)t.try_put_all(keys, values.data(), statuses.data());
    CHECK(t.get(2).is_absent());
    CHECK(t.try_put(4, 3) && t.try_set(4, large).status() == TAMIS_ERR_ARGUMENT);
    CHECK(!t.try_move(4, (one << 32) + 3, 0) && !t.try_move(4, 3, large) && t.get(4) == 3);
    (void)t.try_step_all(four, to_large);
    CHECK(t.get(4) == 3);
    auto small = tamis::states<int>::try_make(few);
    CHECK(small->try_put(1, -1).status() == TAMIS_ERR_ARGUMENT && small->get(1).is_absent());
}

static void machines_step() {
    using table = tamis::states<phase>;
    table            s = std::move(*table::try_make(tamis::states_spec().capacity(1000).values(3).fpr(1e-6)));
    std::vector<int> const keys{ 1, 2, 1, 3, 1, 2 };
    std::map<int, phase>   expected;
    auto const machine = [](std::size_t, tamis::answer<phase> before) noexcept {
        if (before.is_absent()) return tamis::set_to(phase::queued);
        if (before == phase::queued) return tamis::set_to(phase::running);
        return tamis::drop();
    };
    CHECK(*s.try_step_all(keys, machine) == 6);
    CHECK(s.get(1).is_absent() && s.get(2) == phase::running && s.get(3) == phase::queued);
    std::vector<std::string> words;
    for (int i = 0; i < 700; i++) words.push_back(std::to_string(i));
    std::size_t last = 0;
    CHECK(*s.try_step_all(words, [&last](std::size_t i, tamis::answer<phase>) noexcept {
        last = i;
        return tamis::set_to(phase::failed);
    }) == 700);
    CHECK(last == 699 && s.get("699") == phase::failed);
}

static void batches_of_states() {
    using table = tamis::states<phase>;
    table s = std::move(*table::try_make(tamis::states_spec().capacity(3000).values(3).fpr(1e-6)));
    std::vector<std::string>   words;
    std::vector<std::uint64_t> ids(700);
    std::vector<phase>         values;
    std::iota(ids.begin(), ids.end(), 0u);
    for (int i = 0; i < 700; i++) {
        words.push_back(std::to_string(i));
        values.push_back(static_cast<phase>(i % 3));
    }
    CHECK(*s.try_put_all(words, values.data()) == 700 && *s.try_set_all(ids, values.data()) == 700);
    std::vector<tamis::answer<phase>> answers(700);
    long const                        before = allocations;
    for (int sort = 0; sort < 2; sort++) {
        CHECK((sort == 0 ? s.get_all(words, answers.data()) : s.get_all(ids, answers.data())) == 700);
        for (std::size_t i = 0; i < 700; i++) CHECK(answers[i] == values[i]);
    }
    CHECK(*s.try_drop_all(ids) == 700 && s.size() == 700);
    CHECK(s.get_all(ids, answers.data()) == 0 && answers[699].is_absent());
    CHECK(allocations == before);
    std::vector<tamis::status> statuses(700);
    std::swap(values[0], values[1]);
    CHECK(*s.try_put_all(words, values.data(), statuses.data()) == 698);
    CHECK(statuses[0] == TAMIS_ERR_CONFLICT && statuses[1] == TAMIS_ERR_CONFLICT && statuses[2] == TAMIS_OK);
    CHECK(*s.try_touch_all(words) == 700);
}

static void whole_tables_of_states() {
    using table = tamis::states<phase>;
    table a = std::move(*table::try_make(tamis::states_spec().capacity(1000).values(3).fpr(1e-6)));
    auto  b = a.try_make_like();
    CHECK(b && b->try_put("x", phase::failed) && a.try_put("y", phase::running) && a.try_merge(*b));
    CHECK(a.get("x") == phase::failed && a.size() == 2);
    auto c = a.try_copy();
    CHECK(a.try_clear() && a.size() == 0 && c && c->get("y") == phase::running);
    table d(c->release());
    CHECK(d.get("y") == phase::running && !*c);
}

static void growing_sets_and_states_are_resized() {
    tamis::set s = std::move(*tamis::set::try_make(wishes().grow_to(8000)));
    auto const first = s.facts().capacity;
    CHECK(s.try_add(1) && *s.try_resize(2 * first) == 2 * first && s.facts().capacity == 2 * first);
    CHECK(*s.try_resize(1) == first && s.has(1));
    CHECK(s.try_resize(1u << 30).status() == TAMIS_ERR_LIMIT);
    using table = tamis::states<phase>;
    auto const wanted = tamis::states_spec().capacity(1000).values(3).fpr(1e-3);
    table t = std::move(*table::try_make(tamis::states_spec(wanted).grow_to(8000)));
    CHECK(t.try_put("x", phase::failed) && *t.try_resize(3000) == 4000 && t.facts().capacity == 4000);
    CHECK(t.get("x") == phase::failed && t.try_resize(1u << 30).status() == TAMIS_ERR_LIMIT);
    CHECK(table::try_make(wanted)->try_resize(3000).status() == TAMIS_ERR_CANNOT);
}

static void files_open_again() {
    std::string const path = scratch_file("set");
    tamis::set s = std::move(*tamis::set::try_make(wishes()));
    CHECK(s.try_add("kept") && s.try_save(path.c_str()));
    auto const mapped = tamis::set::try_open(path.c_str(), TAMIS_OPEN_MAP);
    CHECK(mapped && (*mapped).has("kept") && (*mapped).facts().is_mapped);
    auto copy = (*mapped).try_copy();
    CHECK(copy && copy->try_add("more") && copy->size() == 2);
    CHECK(!tamis::states<int>::try_open(path.c_str()));
    CHECK(tamis::set::try_open(path.c_str(), 0, nullptr, 1).status() == TAMIS_ERR_LIMIT);
    std::remove(path.c_str());
}

static void merging() {
    tamis::set a = std::move(*tamis::set::try_make(wishes()));
    auto       b = a.try_make_like();
    CHECK(b && b->try_add(1) && a.try_add(2) && a.try_merge(*b) && a.has(1) && a.size() == 2);
    CHECK(a.try_subtract(*b) && !a.has(1) && a.try_clear() && a.size() == 0);
    auto other = tamis::set::try_make(wishes().capacity(5));
    CHECK(a.try_merge(*other).status() == TAMIS_ERR_MISMATCH);
}

static void many_threads_may_read() {
    tamis::set                 s = std::move(*tamis::set::try_make(wishes()));
    std::vector<std::uint64_t> ids(2000);
    std::iota(ids.begin(), ids.end(), 0u);
    CHECK(s.try_add_all(ids));
    std::atomic<int>         good{ 0 };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&s, &ids, &good] { good += s.has_all(ids) == ids.size() && s.has(7); });
    for (auto &thread : threads) thread.join();
    CHECK(good == 4);
}

static void many_threads_may_change_a_shared_set() {
    tamis::set               s = std::move(*tamis::set::try_make(wishes().capacity(8000).shared()));
    std::atomic<int>         good{ 0 };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&s, &good, i] {
            std::vector<int> own(2000);
            std::iota(own.begin(), own.end(), i * 2000);
            good += s.try_add_all(own).done == 2000 && s.has_all(own) == 2000;
        });
    for (auto &thread : threads) thread.join();
    CHECK(good == 4 && s.size() == 8000);
}

static void many_threads_may_change_shared_states() {
    using table = tamis::states<phase>;
    table s = std::move(*table::try_make(tamis::states_spec().capacity(8000).values(3).fpr(1e-6).seed({ 1, 2 }).shared()));
    std::atomic<int>         good{ 0 };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&s, &good, i] {
            std::vector<int>   own(2000);
            std::vector<phase> values(2000, phase::running);
            std::iota(own.begin(), own.end(), i * 2000);
            int const is_put = *s.try_put_all(own, values.data()) == 2000;
            auto const fail = [](std::size_t, tamis::answer<phase> now) noexcept {
                return now == phase::running ? tamis::set_to(phase::failed) : tamis::drop();
            };
            good += is_put && *s.try_step_all(own, fail) == 2000 && s.get(own[7]) == phase::failed;
        });
    for (auto &thread : threads) thread.join();
    CHECK(good == 4 && s.size() == 8000);
}

#ifndef TAMIS_NO_EXCEPTIONS
template <class Call> static tamis::status thrown_by(Call call) {
    try {
        call();
    } catch (const tamis::error &error) {
        CHECK(std::string_view(error.what()).size() > 5);
        return error.status();
    }
    return TAMIS_OK;
}

static void exceptions_are_thrown() {
    tamis::set s(wishes());
    s.add("a");
    CHECK(s.remove("a") && !s.remove("a") && s.add_new(5) && !s.add_new(5));
    CHECK(thrown_by([] { tamis::set bad(tamis::spec().capacity(10).fpr(9)); }) == TAMIS_ERR_ARGUMENT);
    CHECK(thrown_by([] { tamis::set::open("/no/such/file"); }) == TAMIS_ERR_IO);
    CHECK(thrown_by([&] { s.merge(s); }) == TAMIS_ERR_ARGUMENT);
    CHECK(thrown_by([&] { s.save("/no/such/folder/file"); }) == TAMIS_ERR_IO);
    CHECK(thrown_by([&] { s.add_all(std::vector<int>(1, 3)); }) == TAMIS_OK);
    CHECK(thrown_by([] {
        tamis::set small(tamis::spec().capacity(10).fpr(0.01));
        std::vector<std::uint64_t> many(100000);
        std::iota(many.begin(), many.end(), 0u);
        small.remove_all(many);
    }) == TAMIS_ERR_CANNOT);
    tamis::counter c(tamis::spec().capacity(100).fpr(0.01));
    c.add("x");
    CHECK(c["x"] == 1 && c.count("y") == 0 && c.copy().has("x"));
    tamis::states<phase> t(tamis::states_spec().capacity(100).values(3).fpr(0.01));
    t.put("x", phase::failed);
    CHECK(t.get("x") == phase::failed);
    CHECK(thrown_by([&] { t.put("x", phase::queued); }) == TAMIS_ERR_CONFLICT);
    CHECK(thrown_by([&] { t.touch("nobody"); }) == TAMIS_ERR_ABSENT);
    CHECK(thrown_by([&] { t.tick(); }) == TAMIS_ERR_CANNOT);
    CHECK(thrown_by([] { tamis::counter::open("/no/such/file"); }) == TAMIS_ERR_IO);
    tamis::counter const copied = c.copy(), like = c.make_like();
    CHECK(copied["x"] == 1 && like["x"] == 0);
    std::vector<int> const   keys{ 1, 2, 3 };
    std::vector<phase> const phases(3, phase::running);
    CHECK(t.put_all(keys, phases.data()) == 3 && t.set_all(keys, phases.data()) == 3 && t.touch_all(keys) == 3);
    tamis::states<phase> u = t.make_like();
    u.merge(t);
    CHECK(u.get(2) == phase::running && u.copy().size() == 4 && u.drop_all(keys) == 3);
    u.clear();
    CHECK(u.size() == 0 && thrown_by([&] { u.merge(u); }) == TAMIS_ERR_ARGUMENT);
    tamis::set growing(wishes().grow_to(8000));
    CHECK(growing.resize(8000) >= 8000 && thrown_by([&] { s.resize(10); }) == TAMIS_ERR_CANNOT);
    CHECK(thrown_by([&] { u.resize(10); }) == TAMIS_ERR_CANNOT);
}

/* A view that runs out of memory in the middle, or whose file cannot be read. */
struct failing_words : made_words {
    struct iterator : made_words::iterator {
        std::string operator*() const {
            if (i == 300) throw std::runtime_error("no more");
            return made_words::iterator::operator*();
        }
    };
    iterator begin() const { return { { 0 } }; }
    iterator end() const { return { { n } }; }
};

static void what_a_range_throws_is_passed_on() {
    tamis::set           s(wishes());
    tamis::counter       c(wishes());
    tamis::states<phase> t(tamis::states_spec().capacity(1000).values(3).fpr(0.001));
    failing_words const  words{ { 600 } };
    int                  caught = 0;
    auto const           expect_throw = [&](auto call) {
        try {
            call();
        } catch (const std::runtime_error &) {
            caught++;
        }
    };
    std::vector<std::uint64_t>         counts(600);
    std::vector<phase>                 values(600, phase::running);
    std::vector<tamis::answer<phase>> answers(600);
    expect_throw([&] { s.add_all(words); });
    CHECK(s.size() == 300);
    expect_throw([&] { (void)s.has_all(words); });
    expect_throw([&] { (void)s.try_remove_all(words); });
    CHECK(s.size() == 0);
    expect_throw([&] { c.count_all(words, counts.data()); });
    expect_throw([&] { t.put_all(words, values.data()); });
    expect_throw([&] { t.get_all(words, answers.data()); });
    expect_throw([&] { t.step_all(words, [](std::size_t, tamis::answer<phase>) noexcept { return tamis::touch(); }); });
    CHECK(caught == 7);
}

static void opening_has_a_limit_of_memory() {
    std::string const    path = scratch_file("limit");
    tamis::set const     s(wishes());
    tamis::states<phase> t(tamis::states_spec().capacity(1000).values(3).fpr(0.001));
    s.save(path.c_str());
    CHECK(thrown_by([&] { (void)tamis::set::open(path.c_str(), 0, 100); }) == TAMIS_ERR_LIMIT);
    CHECK(thrown_by([&] { (void)tamis::counter::open(path.c_str(), 0, 100); }) == TAMIS_ERR_LIMIT);
    CHECK(tamis::set::open(path.c_str(), 0, 1 << 20).size() == 0);
    t.save(path.c_str());
    CHECK(thrown_by([&] { (void)tamis::states<phase>::open(path.c_str(), 0, 100); }) == TAMIS_ERR_LIMIT);
    CHECK(tamis::states<phase>::open(path.c_str(), 0, 1 << 20).size() == 0);
    std::remove(path.c_str());
}

static void algorithms_insert() {
    tamis::set                     s(wishes());
    std::vector<std::string> const words{ "a", "b", "c" };
    std::copy(words.begin(), words.end(), s.inserter());
    std::generate_n(s.inserter(), 100, [i = 0]() mutable { return i++; });
    CHECK(s.has("c") && s.has(99) && s.size() == 103);
    std::transform(words.begin(), words.end(), s.inserter(), [](const std::string &w) { return w + w; });
    CHECK(s.has("bb"));
#if __cplusplus >= 202002L
    static_assert(std::output_iterator<tamis::set::insert_iterator, const std::string &>);
#endif
#ifdef HAS_VIEWS
    std::ranges::copy(std::views::iota(1000, 1010), s.inserter());
    CHECK(s.has(1009));
#endif
}
#endif

int main() {
    run("keys_of_every_sort", keys_of_every_sort);
    run("results_say_what_happened", results_say_what_happened);
    run("moved_and_empty_handles", moved_and_empty_handles);
    run("batches_of_every_range", batches_of_every_range);
    run("batches_of_elements_that_do_not_stay", batches_of_elements_that_do_not_stay);
    run("nothing_is_allocated_by_the_header", nothing_is_allocated_by_the_header);
    run("counters_count", counters_count);
    run("counters_are_counters_after_a_file_and_a_copy", counters_are_counters_after_a_file_and_a_copy);
    run("inserting_without_exceptions", inserting_without_exceptions);
    run("states_of_an_enum", states_of_an_enum);
    run("batches_of_states", batches_of_states);
    run("whole_tables_of_states", whole_tables_of_states);
    run("large_values_are_refused", large_values_are_refused);
    run("machines_step", machines_step);
    run("growing_sets_and_states_are_resized", growing_sets_and_states_are_resized);
    run("files_open_again", files_open_again);
    run("merging", merging);
    run("many_threads_may_read", many_threads_may_read);
    run("many_threads_may_change_a_shared_set", many_threads_may_change_a_shared_set);
    run("many_threads_may_change_shared_states", many_threads_may_change_shared_states);
#ifndef TAMIS_NO_EXCEPTIONS
    run("exceptions_are_thrown", exceptions_are_thrown);
    run("what_a_range_throws_is_passed_on", what_a_range_throws_is_passed_on);
    run("opening_has_a_limit_of_memory", opening_has_a_limit_of_memory);
    run("algorithms_insert", algorithms_insert);
#endif
    std::printf("1..%d\n", tests);
    return failures != 0;
}
