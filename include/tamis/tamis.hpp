/* tamis.hpp - tamis for C++17 and later: sets, counters and states that free their own memory.
 *
 *     tamis::set seen(tamis::spec().capacity(1'000'000).fpr(0.001).remove());
 *     seen.add("apple");                           // string_view, span, vector, any integer
 *     if (seen.has(17)) ...
 *     seen.add_all(ids);                           // any range of keys
 *     std::copy(words.begin(), words.end(), seen.inserter());
 *
 * Every function that can fail has two forms. `add` throws a tamis::error; `try_add` returns a
 * tamis::result and throws nothing; what the iterators of your range throw passes through. If the
 * compiler has exceptions switched off, or if you define TAMIS_NO_EXCEPTIONS, only the try_ forms
 * exist (and set::try_make in place of the constructor).
 *
 * Objects can be moved, not copied; call copy() to make a copy. This header allocates nothing and
 * copies no keys: it is a thin layer over tamis.h, whose comments say what the functions do. An
 * object that was moved from is empty, and its functions behave as those of tamis.h do with NULL.
 *
 * Threads, as in tamis.h: const functions may run at the same time as each other. If the set was
 * made with shared(), all functions may, except the destructor and assignments.
 */
#ifndef TAMIS_TAMIS_HPP
#define TAMIS_TAMIS_HPP

#include <tamis/tamis.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#if !defined(TAMIS_NO_EXCEPTIONS) && !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#define TAMIS_NO_EXCEPTIONS 1
#endif

namespace tamis {

/* ------------------------------------------------------------------ errors */

using status = ::tamis_status;
using problem = ::tamis_problem;

/** The exception that the throwing functions throw. */
class error : public std::exception {
  public:
    explicit error(tamis::status code) noexcept : status_(code) {}
    explicit error(const tamis::problem &why) noexcept : status_(why.status), problem_(why) {}
    const char *what() const noexcept override {
        return problem_.text[0] != '\0' ? problem_.text : ::tamis_status_text(status_);
    }
    tamis::status status() const noexcept { return status_; }
    /** The system's error number, or 0. */
    int os_error() const noexcept { return problem_.os_error; }

  private:
    tamis::status  status_;
    tamis::problem problem_{};
};

/** A value, or the status that says why there is none. */
template <class T> class [[nodiscard]] result {
  public:
    result(T &&value) : status_(TAMIS_OK), value_(std::move(value)) {}
    result(tamis::status code) : status_(code) {}
    bool          has_value() const noexcept { return value_.has_value(); }
    explicit      operator bool() const noexcept { return has_value(); }
    tamis::status status() const noexcept { return status_; }
    /** A sentence for the status. */
    const char *text() const noexcept { return ::tamis_status_text(status_); }
    /** The value; check has_value() first. */
    T       &operator*() noexcept { return *value_; }
    const T &operator*() const noexcept { return *value_; }
    T       *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }
    T value_or(T other) && { return value_.has_value() ? std::move(*value_) : std::move(other); }
#ifndef TAMIS_NO_EXCEPTIONS
    /** The value, or an exception. */
    T &value() & {
        if (!value_.has_value()) throw error(status_);
        return *value_;
    }
    T value() && {
        if (!value_.has_value()) throw error(status_);
        return std::move(*value_);
    }
#endif

  private:
    tamis::status    status_;
    std::optional<T> value_;
};

/** The result of a function that returns no value: success, or the status that says why not. */
template <> class [[nodiscard]] result<void> {
  public:
    result(tamis::status code) noexcept : status_(code) {}
    explicit      operator bool() const noexcept { return status_ == TAMIS_OK; }
    tamis::status status() const noexcept { return status_; }
    const char   *text() const noexcept { return ::tamis_status_text(status_); }
#ifndef TAMIS_NO_EXCEPTIONS
    void value() const {
        if (status_ != TAMIS_OK) throw error(status_);
    }
#endif

  private:
    tamis::status status_;
};

/* ------------------------------------------------------------------ keys */

namespace detail {

/* An integer or an enum becomes a 64-bit id; negative ones in two's complement. */
template <class K>
inline constexpr bool
    is_number = (std::is_integral_v<K> && !std::is_same_v<K, bool>) || std::is_enum_v<K>;

template <class K, class = void> struct bytes_of : std::false_type {};

/* A type with data() and size() whose elements can be hashed as raw bytes (no padding). */
template <class K>
struct bytes_of<K, std::void_t<decltype(std::data(std::declval<const K &>())),
                               decltype(std::size(std::declval<const K &>()))>>
    : std::bool_constant<std::has_unique_object_representations_v<std::remove_cv_t<
          std::remove_pointer_t<decltype(std::data(std::declval<const K &>()))>>>> {};

template <class K>
inline constexpr bool is_text = std::is_convertible_v<const K &, std::string_view>;

template <class K> inline constexpr bool is_key = is_number<K> || is_text<K> || bytes_of<K>::value;

template <class K> constexpr std::uint64_t id_of(K key) noexcept {
    if constexpr (std::is_enum_v<K>) {
        return id_of(static_cast<std::underlying_type_t<K>>(key));
    } else if constexpr (std::is_signed_v<K>) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(key));
    } else {
        return static_cast<std::uint64_t>(key);
    }
}

template <class K> tamis_key key_of(const K &key) noexcept {
    if constexpr (is_text<K>) { /* "abc" without its final zero, or anything like a string_view */
        const std::string_view text = key;
        return { text.data(), text.size() };
    } else {
        return { std::data(key), std::size(key) * sizeof(*std::data(key)) };
    }
}

/* Call the function for ids or the function for bytes, depending on the type of the key. */
template <class K, class ById, class ByBytes>
decltype(auto) by_sort(const K &key, ById by_id, ByBytes by_bytes) {
    static_assert(is_key<K>,
                  "a key is an integer, an enum, text, or a contiguous range of elements "
                  "that can be hashed as raw bytes");
    if constexpr (is_number<K>) {
        return by_id(id_of(key));
    } else {
        const tamis_key bytes = key_of(key);
        return by_bytes(bytes.data, bytes.bytes);
    }
}

/* Contiguous 64-bit integers can be passed as ids without a copy. */
template <class R, class = void> struct ids_of : std::false_type {};
template <class R>
struct ids_of<R, std::void_t<decltype(std::data(std::declval<const R &>())),
                             decltype(std::size(std::declval<const R &>()))>> {
    using element =
        std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const R &>()))>>;
    static constexpr bool value = std::is_same_v<element, std::uint64_t>;
};

/* The keys of a range are collected in a buffer of this length on the stack, so that a batch needs
 * no allocation. */
inline constexpr std::size_t part = 256;

/* May an iterator be copied, and all elements it has passed still be used? An input iterator, such
 * as std::istream_iterator, may have room for one element only. */
template <class I, class = void> struct is_multipass : std::false_type {};
template <class I>
struct is_multipass<I, std::void_t<typename std::iterator_traits<I>::iterator_category>>
    : std::is_base_of<std::forward_iterator_tag,
                      typename std::iterator_traits<I>::iterator_category> {};

/* Do the bytes of a key stay where they are when the iterator moves on? They do not if it returns
 * an object that owns them, such as a std::string. */
template <class I>
inline constexpr bool is_stable =
#if defined(__cpp_lib_concepts) && __cpp_lib_concepts >= 202002L
    (is_multipass<I>::value || std::forward_iterator<I>) &&
#else
    is_multipass<I>::value &&
#endif
    (std::is_lvalue_reference_v<decltype(*std::declval<I &>())> ||
     std::is_same_v<std::decay_t<decltype(*std::declval<I &>())>, std::string_view> ||
     std::is_pointer_v<std::decay_t<decltype(*std::declval<I &>())>>);

/* Call work(ids or keys, n, first) for one part of a range after the other, until it returns false.
 * A part has up to `part` keys, or up to `most_ids` ids if they need no copy; or one key, if its
 * bytes are gone when the next one is read. */
template <class R, class Work>
void in_parts(const R &range, Work work, std::size_t most_ids = SIZE_MAX) {
    using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::begin(range))>>;
    static_assert(is_key<element>, "the elements of the range are not keys");
    if constexpr (ids_of<R>::value) {
        std::size_t const all = std::size(range);
        for (std::size_t first = 0, n; first < all; first += n) {
            n = all - first < most_ids ? all - first : most_ids;
            if (!work(std::data(range) + first, n, first)) return;
        }
    } else {
        using gathered = std::conditional_t<is_number<element>, std::uint64_t, tamis_key>;
        using iterator = decltype(std::begin(range));
        constexpr std::size_t most = is_number<element> || is_stable<iterator> ? part : 1;
        gathered              keys[most];
        std::size_t           n = 0, first = 0;
        auto const            last = std::end(range);
        for (auto at = std::begin(range); at != last; ++at) {
            auto &&one = *at; /* it lives until the next turn */
            if constexpr (is_number<element>) {
                keys[n++] = id_of<element>(one);
            } else {
                keys[n++] = key_of<element>(one);
            }
            if (n < most) continue;
            if (!work(static_cast<const gathered *>(keys), n, first)) return;
            first += n;
            n = 0;
        }
        if (n > 0) work(static_cast<const gathered *>(keys), n, first);
    }
}

} // namespace detail

#if defined(__cpp_concepts) && __cpp_concepts >= 201907L
/** Types that can be a key. */
template <class K>
concept key = detail::is_key<std::remove_cvref_t<K>>;
#endif

/* ------------------------------------------------------------------ specs */

/** What you want of a set. Each function sets one field of `c`, the tamis_spec. */
struct spec {
    tamis_spec c = TAMIS_SPEC_INIT;

    spec &capacity(std::uint64_t keys) noexcept {
        c.capacity = keys;
        return *this;
    }
    spec &fpr(double rate) noexcept {
        c.fpr = rate;
        return *this;
    }
    spec &remove() noexcept {
        c.abilities |= TAMIS_CAN_REMOVE;
        return *this;
    }
    spec &merge() noexcept {
        c.abilities |= TAMIS_CAN_MERGE;
        return *this;
    }
    spec &count_to(std::uint64_t count) noexcept {
        c.abilities |= TAMIS_CAN_COUNT;
        c.count_to = count;
        return *this;
    }
    spec &grow_to(std::uint64_t keys) noexcept {
        c.grow_to = keys;
        return *this;
    }
    spec &memory(std::uint64_t bytes) noexcept {
        c.memory = bytes;
        return *this;
    }
    spec &shared() noexcept {
        c.shared = true;
        return *this;
    }
    spec &small() noexcept {
        c.prefer = TAMIS_PREFER_SMALL;
        return *this;
    }
    spec &kind(const char *name) noexcept {
        c.kind = name;
        return *this;
    }
    /** The seed must live until the set is made. */
    spec &seed(const tamis_seed &bits) noexcept {
        c.seed = &bits;
        return *this;
    }
};

/* ------------------------------------------------------------------ sets */

namespace detail {
struct free_set {
    void operator()(tamis_set *set) const noexcept { ::tamis_free(set); }
};
struct free_states {
    void operator()(tamis_states *states) const noexcept { ::tamis_states_free(states); }
};
} // namespace detail

/** How many keys of a batch were handled, and, if it stopped early, why. */
struct batch_result {
    tamis::status status = TAMIS_OK;
    std::size_t   done = 0;
    explicit      operator bool() const noexcept { return status == TAMIS_OK; }
};

class set {
  public:
    /** An empty handle; assign a set to it. */
    set() noexcept = default;
    /** Take ownership of a set that tamis_create() or tamis_open() made. */
    explicit set(tamis_set *taken) noexcept : set_(taken) {}
    static result<set> try_make(const tamis::spec &wishes, problem *why = nullptr) {
        return made(wishes.c, why);
    }
    /** An empty set that can be merged with this one. */
    result<set> try_make_like(problem *why = nullptr) const {
        tamis_spec wishes = TAMIS_SPEC_INIT;
        wishes.like = get();
        return made(wishes, why);
    }
    /** max_bytes: as in tamis_open_options, for files that you do not trust. */
    static result<set> try_open(const char *path, unsigned flags = 0, problem *why = nullptr,
                                std::uint64_t max_bytes = 0) {
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        tamis_set         *opened = nullptr;
        options.flags = flags;
        options.max_bytes = max_bytes;
        tamis::status const code = ::tamis_open(path, &options, &opened, why);
        if (code != TAMIS_OK) return code;
        return set(opened);
    }

    /** The handle, for functions of tamis.h. */
    tamis_set *get() const noexcept { return set_.get(); }
    tamis_set *release() noexcept { return set_.release(); }
    explicit   operator bool() const noexcept { return set_ != nullptr; }

    /* One key. */

    template <class K> bool has(const K &key) const noexcept {
        return detail::by_sort(
            key, [this](std::uint64_t id) { return ::tamis_has_id(get(), id); },
            [this](const void *data, std::size_t n) { return ::tamis_has(get(), data, n); });
    }
    template <class K> result<void> try_add(const K &key) noexcept {
        return detail::by_sort(
            key, [this](std::uint64_t id) { return ::tamis_add_id(get(), id); },
            [this](const void *data, std::size_t n) { return ::tamis_add(get(), data, n); });
    }
    template <class K> result<void> try_remove(const K &key) noexcept {
        return detail::by_sort(
            key, [this](std::uint64_t id) { return ::tamis_remove_id(get(), id); },
            [this](const void *data, std::size_t n) { return ::tamis_remove(get(), data, n); });
    }
    /** Add a key if the set does not have it yet. Returns whether it was new. */
    template <class K> result<bool> try_add_new(const K &key) noexcept {
        bool                is_new = false;
        tamis::status const code = detail::by_sort(
            key,
            [this, &is_new](std::uint64_t id) { return ::tamis_add_new_id(get(), id, &is_new); },
            [this, &is_new](const void *data, std::size_t n) {
                return ::tamis_add_new(get(), data, n, &is_new);
            });
        if (code != TAMIS_OK) return code;
        return is_new;
    }

    /* Many keys: any range of keys. Contiguous 64-bit integers are not copied. */

    template <class R> batch_result try_add_all(const R &keys) {
        batch_result done;
        detail::in_parts(keys, [&](auto part, std::size_t n, std::size_t) {
            std::size_t added = 0;
            done.status = this->add_part(part, n, &added);
            done.done += added;
            return done.status == TAMIS_OK;
        });
        return done;
    }
    /** Set ret_has[i] to whether key i is in the set; ret_has may be nullptr. Returns how many
     *  keys are in the set. */
    template <class R> std::size_t has_all(const R &keys, bool *ret_has = nullptr) const {
        std::size_t found = 0;
        detail::in_parts(keys, [&](auto part, std::size_t n, std::size_t first) {
            found += this->has_part(part, n, ret_has != nullptr ? ret_has + first : nullptr);
            return true;
        });
        return found;
    }
    /** Remove one copy of each. `removed`, `absent` and `saturated` add up to the number of keys. */
    template <class R>
    result<tamis_removal> try_remove_all(const R &keys, bool *ret_removed = nullptr) {
        tamis_removal all{ 0, 0, 0 };
        tamis::status code = TAMIS_OK;
        detail::in_parts(keys, [&](auto part, std::size_t n, std::size_t first) {
            tamis_removal one{ 0, 0, 0 };
            code = this->remove_part(part, n,
                                     ret_removed != nullptr ? ret_removed + first : nullptr, &one);
            all.removed += one.removed;
            all.absent += one.absent;
            all.saturated += one.saturated;
            return code == TAMIS_OK;
        });
        if (code != TAMIS_OK) return code;
        return all;
    }

    /** An output iterator for algorithms, without exceptions. It counts the added keys in a
     *  batch_result, and ignores all keys after one that was refused. */
    class try_insert_iterator {
      public:
        using iterator_category = std::output_iterator_tag;
        using value_type = void;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = void;
        try_insert_iterator() noexcept = default;
        try_insert_iterator(set &into, batch_result &ret) noexcept : into_(&into), ret_(&ret) {}
        template <class K, class = std::enable_if_t<detail::is_key<K>>>
        try_insert_iterator &operator=(const K &key) noexcept {
            if (!*ret_) return *this;
            ret_->status = into_->try_add(key).status();
            ret_->done += ret_->status == TAMIS_OK;
            return *this;
        }
        try_insert_iterator &operator*() noexcept { return *this; }
        try_insert_iterator &operator++() noexcept { return *this; }
        try_insert_iterator  operator++(int) noexcept { return *this; }

      private:
        set          *into_ = nullptr;
        batch_result *ret_ = nullptr;
    };
    try_insert_iterator try_inserter(batch_result &ret) noexcept {
        return try_insert_iterator(*this, ret);
    }

    /* Whole sets. */

    result<void> try_clear() noexcept { return ::tamis_clear(get()); }
    result<void> try_merge(const set &from) noexcept { return ::tamis_merge(get(), from.get()); }
    result<void> try_subtract(const set &from) noexcept {
        return ::tamis_subtract(get(), from.get());
    }
    /** Change the capacity of a set that can grow, as tamis_resize(). Returns the new one. */
    result<std::uint64_t> try_resize(std::uint64_t capacity) noexcept {
        std::uint64_t       now = 0;
        tamis::status const code = ::tamis_resize(get(), capacity, &now);
        if (code != TAMIS_OK) return code;
        return now;
    }
    result<void> try_save(const char *path, problem *why = nullptr) const noexcept {
        return ::tamis_save(get(), path, why);
    }
    result<set> try_copy() const {
        tamis_set          *copied = nullptr;
        tamis::status const code = ::tamis_copy(get(), &copied);
        if (code != TAMIS_OK) return code;
        return set(copied);
    }
    /** The facts of the set (tamis_get_facts()); all zero for an empty handle. */
    tamis_facts facts() const noexcept {
        tamis_facts all{};
        if (::tamis_get_facts(get(), &all) != TAMIS_OK) all = tamis_facts{};
        return all;
    }
    /** Adds minus removals. */
    std::uint64_t size() const noexcept { return facts().keys; }

#ifndef TAMIS_NO_EXCEPTIONS
    explicit set(const tamis::spec &wishes) {
        problem why{};
        *this = checked(try_make(wishes, &why), why);
    }
    static set open(const char *path, unsigned flags = 0, std::uint64_t max_bytes = 0) {
        problem why{};
        return checked(try_open(path, flags, &why, max_bytes), why);
    }
    set make_like() const {
        problem why{};
        return checked(try_make_like(&why), why);
    }
    template <class K> void add(const K &key) {
        try_add(key).value();
    }
    template <class K> bool add_new(const K &key) {
        return try_add_new(key).value();
    }
    /** Returns whether the key was in the set. Other failures throw. */
    template <class K> bool remove(const K &key) {
        tamis::status const code = try_remove(key).status();
        if (code == TAMIS_OK || code == TAMIS_ERR_ABSENT) return code == TAMIS_OK;
        throw error(code);
    }
    template <class R> void add_all(const R &keys) {
        batch_result const done = try_add_all(keys);
        if (!done) throw error(done.status);
    }
    template <class R> tamis_removal remove_all(const R &keys, bool *ret_removed = nullptr) {
        return try_remove_all(keys, ret_removed).value();
    }
    void clear() {
        try_clear().value();
    }
    void merge(const set &from) {
        try_merge(from).value();
    }
    void subtract(const set &from) {
        try_subtract(from).value();
    }
    std::uint64_t resize(std::uint64_t capacity) {
        return try_resize(capacity).value();
    }
    set copy() const {
        return try_copy().value();
    }
    void save(const char *path) const {
        problem why{};
        if (!try_save(path, &why)) throw error(why);
    }

    /** An output iterator: std::copy(keys.begin(), keys.end(), set.inserter()). Throws when the set
     *  is full. */
    class insert_iterator {
      public:
        using iterator_category = std::output_iterator_tag;
        using value_type = void;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = void;
        insert_iterator() noexcept = default;
        explicit insert_iterator(set &into) noexcept : into_(&into) {}
        template <class K, class = std::enable_if_t<detail::is_key<K>>>
        insert_iterator &operator=(const K &key) {
            into_->add(key);
            return *this;
        }
        insert_iterator &operator*() noexcept { return *this; }
        insert_iterator &operator++() noexcept { return *this; }
        insert_iterator  operator++(int) noexcept { return *this; }

      private:
        set *into_ = nullptr;
    };
    insert_iterator inserter() noexcept {
        return insert_iterator(*this);
    }
#endif

  protected:
    static result<set> made(const tamis_spec &wishes, problem *why) {
        tamis_set          *created = nullptr;
        tamis::status const code = ::tamis_create(&wishes, &created, why);
        if (code != TAMIS_OK) return code;
        return set(created);
    }
#ifndef TAMIS_NO_EXCEPTIONS
    static set checked(result<set> attempt, const problem &why) {
        if (attempt) return std::move(*attempt);
        if (why.status != TAMIS_OK) throw error(why);
        throw error(attempt.status());
    }
#endif

  private:
    tamis::status add_part(const std::uint64_t *ids, std::size_t n, std::size_t *ret_n) noexcept {
        return ::tamis_add_id_batch(get(), ids, n, ret_n);
    }
    tamis::status add_part(const tamis_key *keys, std::size_t n, std::size_t *ret_n) noexcept {
        return ::tamis_add_batch(get(), keys, n, ret_n);
    }
    std::size_t has_part(const std::uint64_t *ids, std::size_t n, bool *ret_has) const noexcept {
        return ::tamis_has_id_batch(get(), ids, n, ret_has);
    }
    std::size_t has_part(const tamis_key *keys, std::size_t n, bool *ret_has) const noexcept {
        return ::tamis_has_batch(get(), keys, n, ret_has);
    }
    tamis::status remove_part(const std::uint64_t *ids, std::size_t n, bool *ret_removed,
                              tamis_removal *ret) noexcept {
        return ::tamis_remove_id_batch(get(), ids, n, ret_removed, ret);
    }
    tamis::status remove_part(const tamis_key *keys, std::size_t n, bool *ret_removed,
                              tamis_removal *ret) noexcept {
        return ::tamis_remove_batch(get(), keys, n, ret_removed, ret);
    }

    std::unique_ptr<tamis_set, detail::free_set> set_;
};

/* ------------------------------------------------------------------ counters */

/** A set that was made with count_to(). */
class counter : public set {
  public:
    counter() noexcept = default;
    explicit counter(tamis_set *taken) noexcept : set(taken) {}
    explicit counter(set &&taken) noexcept : set(std::move(taken)) {}
    static result<counter> try_make(tamis::spec wishes, problem *why = nullptr) {
        wishes.c.abilities |= TAMIS_CAN_COUNT;
        return counted(set::try_make(wishes, why));
    }
    static result<counter> try_open(const char *path, unsigned flags = 0, problem *why = nullptr,
                                    std::uint64_t max_bytes = 0) {
        return counted(set::try_open(path, flags, why, max_bytes));
    }
    /** An empty counter that can be merged with this one. */
    result<counter> try_make_like(problem *why = nullptr) const {
        return counted(set::try_make_like(why));
    }
    result<counter> try_copy() const { return counted(set::try_copy()); }

    /** How many copies of the key there are: never too low. TAMIS_COUNT_MANY: more than the set can
     *  count. */
    template <class K> result<std::uint64_t> try_count(const K &key) const noexcept {
        std::uint64_t       count = 0;
        tamis::status const code = detail::by_sort(
            key, [&](std::uint64_t id) { return ::tamis_count_id(get(), id, &count); },
            [&](const void *data, std::size_t n) { return ::tamis_count(get(), data, n, &count); });
        if (code != TAMIS_OK) return code;
        return count;
    }
    template <class K> result<void> try_add_copies(const K &key, std::uint64_t copies) noexcept {
        return detail::by_sort(
            key, [&](std::uint64_t id) { return ::tamis_add_copies_id(get(), id, copies); },
            [&](const void *data, std::size_t n) {
                return ::tamis_add_copies(get(), data, n, copies);
            });
    }
    /** Set ret_counts[i] to the count of key i, for any range of keys. */
    template <class R>
    result<void> try_count_all(const R &keys, std::uint64_t *ret_counts) const {
        tamis::status code = TAMIS_OK;
        detail::in_parts(keys, [&](auto part, std::size_t n, std::size_t first) {
            code = this->count_part(part, n, ret_counts + first);
            return code == TAMIS_OK;
        });
        return code;
    }
#ifndef TAMIS_NO_EXCEPTIONS
    explicit counter(tamis::spec wishes) {
        problem why{};
        wishes.c.abilities |= TAMIS_CAN_COUNT;
        static_cast<set &>(*this) = checked(set::try_make(wishes, &why), why);
    }
    static counter open(const char *path, unsigned flags = 0, std::uint64_t max_bytes = 0) {
        return counter(set::open(path, flags, max_bytes));
    }
    counter make_like() const {
        return counter(set::make_like());
    }
    counter copy() const {
        return counter(set::copy());
    }
    template <class K> std::uint64_t count(const K &key) const {
        return try_count(key).value();
    }
    template <class K> std::uint64_t operator[](const K &key) const {
        return count(key);
    }
    template <class K> void add_copies(const K &key, std::uint64_t copies) {
        try_add_copies(key, copies).value();
    }
    template <class R> void count_all(const R &keys, std::uint64_t *ret_counts) const {
        try_count_all(keys, ret_counts).value();
    }
#endif

  private:
    static result<counter> counted(result<set> attempt) {
        if (!attempt) return attempt.status();
        return counter(std::move(*attempt));
    }
    tamis::status count_part(const std::uint64_t *ids, std::size_t n,
                             std::uint64_t *ret) const noexcept {
        return ::tamis_count_id_batch(get(), ids, n, ret);
    }
    tamis::status count_part(const tamis_key *keys, std::size_t n,
                             std::uint64_t *ret) const noexcept {
        return ::tamis_count_batch(get(), keys, n, ret);
    }
};

/* ------------------------------------------------------------------ states */

/** What you want of states. `c` is the tamis_states_spec. */
struct states_spec {
    tamis_states_spec c = TAMIS_STATES_SPEC_INIT;

    states_spec &capacity(std::uint64_t keys) noexcept {
        c.capacity = keys;
        return *this;
    }
    states_spec &values(std::uint64_t n) noexcept {
        c.values = n;
        return *this;
    }
    states_spec &fpr(double rate) noexcept {
        c.fpr = rate;
        return *this;
    }
    states_spec &timeout(std::uint64_t ticks) noexcept {
        c.timeout = ticks;
        return *this;
    }
    states_spec &grow_to(std::uint64_t keys) noexcept {
        c.grow_to = keys;
        return *this;
    }
    states_spec &memory(std::uint64_t bytes) noexcept {
        c.memory = bytes;
        return *this;
    }
    states_spec &shared() noexcept {
        c.shared = true;
        return *this;
    }
    states_spec &fast() noexcept {
        c.prefer = TAMIS_PREFER_FAST;
        return *this;
    }
    states_spec &kind(const char *name) noexcept {
        c.kind = name;
        return *this;
    }
    /** The seed must live until the table is made. */
    states_spec &seed(const tamis_seed &bits) noexcept {
        c.seed = &bits;
        return *this;
    }
};

/** The answer of a lookup: a value, absent, or unknown. */
template <class Value> class answer {
  public:
    answer() noexcept : status_(TAMIS_ERR_ABSENT), value_() {}
    answer(tamis::status code, std::uint32_t value) noexcept
        : status_(code), value_(static_cast<Value>(value)) {}
    explicit      operator bool() const noexcept { return status_ == TAMIS_OK; }
    bool          is_absent() const noexcept { return status_ == TAMIS_ERR_ABSENT; }
    bool          is_unknown() const noexcept { return status_ == TAMIS_ERR_UNKNOWN; }
    tamis::status status() const noexcept { return status_; }
    /** The value. Check first that there is one: `if (answer) use(*answer)`. */
    Value       operator*() const noexcept { return value_; }
    friend bool operator==(const answer &a, Value value) noexcept {
        return a.status_ == TAMIS_OK && a.value_ == value;
    }

  private:
    tamis::status status_;
    Value         value_;
};

namespace detail {
/* A value for the C functions. One that has more than 32 bits is refused by all tables that cannot
 * have 2^32 values; cut to 32 bits, it would be another value. */
template <class Value> constexpr std::uint32_t value_of(Value value) noexcept {
    std::uint64_t const number = static_cast<std::uint64_t>(value);
    return number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : UINT32_MAX;
}
} // namespace detail

/** What a state machine decides: tamis::leave(), touch(), drop(), or set_to(value). */
struct decision {
    tamis_step    step = TAMIS_STEP_LEAVE;
    std::uint32_t to = 0;
};
inline decision leave() noexcept {
    return { TAMIS_STEP_LEAVE, 0 };
}
inline decision touch() noexcept {
    return { TAMIS_STEP_TOUCH, 0 };
}
inline decision drop() noexcept {
    return { TAMIS_STEP_DROP, 0 };
}
template <class Value> decision set_to(Value value) noexcept {
    return { TAMIS_STEP_SET, detail::value_of(value) };
}

/** Keys that carry a value of an enum or an integer. */
template <class Value = std::uint32_t> class states {
    static_assert(std::is_enum_v<Value> || std::is_integral_v<Value>,
                  "the value type must be an enum or an integer");

  public:
    states() noexcept = default;
    explicit states(tamis_states *taken) noexcept : states_(taken) {}
    static result<states> try_make(const states_spec &wishes, problem *why = nullptr) {
        return created(wishes.c, why);
    }
    /** An empty table that can be merged with this one. */
    result<states> try_make_like(problem *why = nullptr) const {
        tamis_states_spec wishes = TAMIS_STATES_SPEC_INIT;
        wishes.like = handle();
        return created(wishes, why);
    }
    static result<states> try_open(const char *path, unsigned flags = 0, problem *why = nullptr,
                                   std::uint64_t max_bytes = 0) {
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        tamis_states      *opened = nullptr;
        options.flags = flags;
        options.max_bytes = max_bytes;
        tamis::status const code = ::tamis_states_open(path, &options, &opened, why);
        if (code != TAMIS_OK) return code;
        return states(opened);
    }
    /** The handle, for functions of states.h. */
    tamis_states *handle() const noexcept { return states_.get(); }
    tamis_states *release() noexcept { return states_.release(); }
    explicit      operator bool() const noexcept { return states_ != nullptr; }

    template <class K> answer<Value> get(const K &key) const noexcept {
        std::uint32_t       value = 0;
        tamis::status const code = detail::by_sort(
            key, [&](std::uint64_t id) { return ::tamis_states_get_id(handle(), id, &value); },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_get(handle(), data, n, &value);
            });
        return { code, value };
    }
    template <class K> result<void> try_put(const K &key, Value value) noexcept {
        return detail::by_sort(
            key,
            [&](std::uint64_t id) { return ::tamis_states_put_id(handle(), id, number(value)); },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_put(handle(), data, n, number(value));
            });
    }
    template <class K> result<void> try_set(const K &key, Value value) noexcept {
        return detail::by_sort(
            key,
            [&](std::uint64_t id) { return ::tamis_states_set_id(handle(), id, number(value)); },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_set(handle(), data, n, number(value));
            });
    }
    template <class K> result<void> try_move(const K &key, Value from, Value to) noexcept {
        return detail::by_sort(
            key,
            [&](std::uint64_t id) {
                return ::tamis_states_move_id(handle(), id, number(from), number(to));
            },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_move(handle(), data, n, number(from), number(to));
            });
    }
    template <class K> result<void> try_touch(const K &key) noexcept {
        return detail::by_sort(
            key, [&](std::uint64_t id) { return ::tamis_states_touch_id(handle(), id); },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_touch(handle(), data, n);
            });
    }
    /** Remove a key, whatever its value. */
    template <class K> result<void> try_drop(const K &key) noexcept {
        return detail::by_sort(
            key,
            [&](std::uint64_t id) { return ::tamis_states_drop_id(handle(), id, TAMIS_ANY_VALUE); },
            [&](const void *data, std::size_t n) {
                return ::tamis_states_drop(handle(), data, n, TAMIS_ANY_VALUE);
            });
    }
    /** Let time pass. Returns the backlog: the buckets that are still due. */
    result<std::uint64_t> try_tick(std::uint64_t ticks = 1) noexcept {
        std::uint64_t       backlog = 0;
        tamis::status const code = ::tamis_states_tick(handle(), ticks, nullptr, &backlog);
        if (code != TAMIS_OK) return code;
        return backlog;
    }

    /* Many keys: any range of keys. values[i] belongs to key i. ret_statuses[i] is what a single
     * call for key i would return; ret_statuses may be nullptr. Returns how many keys were not
     * refused. */

    template <class R>
    std::size_t get_all(const R &keys, answer<Value> *ret_answers) const {
        std::size_t known = 0;
        detail::in_parts(
            keys,
            [&](auto part, std::size_t n, std::size_t first) {
                std::uint32_t      found[detail::part] = { 0 };
                tamis::status      codes[detail::part];
                std::size_t        done = 0;
                tamis_states_batch batch = batch_of(part, n);
                batch.ret_values = found;
                batch.ret_statuses = codes;
                tamis::status const code = ::tamis_states_get_batch(handle(), &batch, &done);
                for (std::size_t i = 0; i < n; i++)
                    ret_answers[first + i] = { code == TAMIS_OK ? codes[i] : code, found[i] };
                known += done;
                return true;
            },
            detail::part);
        return known;
    }
    template <class R>
    result<std::size_t> try_put_all(const R &keys, const Value *values,
                                    tamis::status *ret_statuses = nullptr) {
        return change_all(::tamis_states_put_batch, keys, values, ret_statuses);
    }
    template <class R>
    result<std::size_t> try_set_all(const R &keys, const Value *values,
                                    tamis::status *ret_statuses = nullptr) {
        return change_all(::tamis_states_set_batch, keys, values, ret_statuses);
    }
    template <class R>
    result<std::size_t> try_touch_all(const R       &keys,
                                      tamis::status *ret_statuses = nullptr) {
        return change_all(::tamis_states_touch_batch, keys, nullptr, ret_statuses);
    }
    template <class R>
    result<std::size_t> try_drop_all(const R       &keys,
                                     tamis::status *ret_statuses = nullptr) {
        return change_all(::tamis_states_drop_batch, keys, nullptr, ret_statuses);
    }

    /** Run one step of a state machine for each key of a range: decide(i, answer<Value>) returns a
     *  decision. It must not throw: write `noexcept` after its parameters. Returns how many
     *  decisions were carried out. */
    template <class R, class Decide>
    result<std::size_t> try_step_all(const R &keys, Decide decide) {
        static_assert(std::is_nothrow_invocable_r_v<decision, Decide &, std::size_t, answer<Value>>,
                      "decide must be noexcept: it is called by C");
        tamis::status    code = TAMIS_OK;
        std::size_t      carried_out = 0;
        stepping<Decide> context{ &decide, 0 };
        detail::in_parts(keys, [&](auto part, std::size_t n, std::size_t first) {
            tamis_states_batch const batch = batch_of(part, n);
            std::size_t              done = 0;
            context.first = first;
            code = ::tamis_states_step_batch(handle(), &batch, &stepping<Decide>::step, &context,
                                             &done);
            carried_out += done;
            return code == TAMIS_OK;
        });
        if (code != TAMIS_OK) return code;
        return carried_out;
    }

    /* Whole tables. */

    result<void> try_clear() noexcept { return ::tamis_states_clear(handle()); }
    result<void> try_merge(const states &from) noexcept {
        return ::tamis_states_merge(handle(), from.handle());
    }
    /** Change the capacity of a table that can grow, as tamis_states_resize(). Returns the new one.
     */
    result<std::uint64_t> try_resize(std::uint64_t capacity) noexcept {
        std::uint64_t       now = 0;
        tamis::status const code = ::tamis_states_resize(handle(), capacity, &now);
        if (code != TAMIS_OK) return code;
        return now;
    }
    result<states> try_copy() const {
        tamis_states       *copied = nullptr;
        tamis::status const code = ::tamis_states_copy(handle(), &copied);
        if (code != TAMIS_OK) return code;
        return states(copied);
    }
    result<void> try_save(const char *path, problem *why = nullptr) const noexcept {
        return ::tamis_states_save(handle(), path, why);
    }
    tamis_states_facts facts() const noexcept {
        tamis_states_facts all{};
        if (::tamis_states_get_facts(handle(), &all) != TAMIS_OK) all = tamis_states_facts{};
        return all;
    }
    std::uint64_t size() const noexcept { return facts().keys; }

#ifndef TAMIS_NO_EXCEPTIONS
    explicit states(const states_spec &wishes) {
        problem why{};
        auto    made = try_make(wishes, &why);
        if (!made) throw error(why);
        *this = std::move(*made);
    }
    static states open(const char *path, unsigned flags = 0, std::uint64_t max_bytes = 0) {
        problem why{};
        auto    opened = try_open(path, flags, &why, max_bytes);
        if (!opened) throw error(why);
        return std::move(*opened);
    }
    template <class K> void put(const K &key, Value value) {
        try_put(key, value).value();
    }
    template <class K> void set(const K &key, Value value) {
        try_set(key, value).value();
    }
    template <class K> void move(const K &key, Value from, Value to) {
        try_move(key, from, to).value();
    }
    template <class K> void touch(const K &key) {
        try_touch(key).value();
    }
    template <class K> void drop(const K &key) {
        try_drop(key).value();
    }
    std::uint64_t tick(std::uint64_t ticks = 1) {
        return try_tick(ticks).value();
    }
    template <class R> std::size_t put_all(const R &keys, const Value *values) {
        return try_put_all(keys, values).value();
    }
    template <class R> std::size_t set_all(const R &keys, const Value *values) {
        return try_set_all(keys, values).value();
    }
    template <class R> std::size_t touch_all(const R &keys) {
        return try_touch_all(keys).value();
    }
    template <class R> std::size_t drop_all(const R &keys) {
        return try_drop_all(keys).value();
    }
    template <class R, class Decide> std::size_t step_all(const R &keys, Decide decide) {
        return try_step_all(keys, std::move(decide)).value();
    }
    states make_like() const {
        problem why{};
        auto    made = try_make_like(&why);
        if (!made) throw error(why);
        return std::move(*made);
    }
    void clear() {
        try_clear().value();
    }
    void merge(const states &from) {
        try_merge(from).value();
    }
    std::uint64_t resize(std::uint64_t capacity) {
        return try_resize(capacity).value();
    }
    states copy() const {
        return try_copy().value();
    }
    void save(const char *path) const {
        problem why{};
        if (!try_save(path, &why)) throw error(why);
    }
#endif

  private:
    static std::uint32_t number(Value value) noexcept {
        return detail::value_of(value);
    }
    static result<states> created(const tamis_states_spec &wishes, problem *why) {
        tamis_states       *made = nullptr;
        tamis::status const code = ::tamis_states_create(&wishes, &made, why);
        if (code != TAMIS_OK) return code;
        return states(made);
    }
    static tamis_states_batch batch_of(const std::uint64_t *ids, std::size_t n) noexcept {
        tamis_states_batch batch{};
        batch.ids = ids;
        batch.n = n;
        return batch;
    }
    static tamis_states_batch batch_of(const tamis_key *keys, std::size_t n) noexcept {
        tamis_states_batch batch{};
        batch.keys = keys;
        batch.n = n;
        return batch;
    }
    template <class Call, class R>
    result<std::size_t> change_all(Call call, const R &keys, const Value *values,
                                   tamis::status *ret_statuses) {
        tamis::status code = TAMIS_OK;
        std::size_t   all_done = 0;
        detail::in_parts(
            keys,
            [&](auto part, std::size_t n, std::size_t first) {
                std::uint32_t      numbers[detail::part];
                std::size_t        done = 0;
                tamis_states_batch batch = batch_of(part, n);
                for (std::size_t i = 0; values != nullptr && i < n; i++)
                    numbers[i] = number(values[first + i]);
                if (values != nullptr) batch.values = numbers;
                if (ret_statuses != nullptr) batch.ret_statuses = ret_statuses + first;
                code = call(handle(), &batch, &done);
                all_done += done;
                return code == TAMIS_OK;
            },
            detail::part);
        if (code != TAMIS_OK) return code;
        return all_done;
    }

    /* The C callback, which calls the caller's function. */
    template <class Decide> struct stepping {
        Decide           *decide;
        std::size_t       first;
        static tamis_step step(void *context, std::size_t i, tamis::status code,
                               std::uint32_t value, std::uint32_t *ret_to) noexcept {
            auto *const    self = static_cast<stepping *>(context);
            decision const made = (*self->decide)(self->first + i, answer<Value>(code, value));
            *ret_to = made.to;
            return made.step;
        }
    };

    std::unique_ptr<tamis_states, detail::free_states> states_;
};

} // namespace tamis

#endif
