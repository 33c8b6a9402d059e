/* test_header.cpp - test_header.c, read as C++11. */
#include "test_header.c"
