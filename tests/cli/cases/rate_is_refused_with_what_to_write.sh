. "$CLI_TESTS/helpers.sh"
for e in x '' 0 -1 60% 0.6 1e-13 1e-400 1e-200/1e200 1e400 1/0 1/ 0.1%% 0.1x nan; do
    code_of tamis plan --kind bloom -n 1000 -e "$e"
done
