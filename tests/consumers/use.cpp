/* use.cpp - a program in C++ that uses the installed library, as a user would write it. */
#include <tamis/tamis.hpp>

int main() {
    tamis::set s(tamis::spec().capacity(100).fpr(0.01).remove());
    s.add("a");
    return s.has("a") && s.remove("a") && s.size() == 0 ? 0 : 1;
}
