/* test_header.cpp - compile test_header.c as C++11. */
#include "test_header.c"
