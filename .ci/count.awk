# Prints "passed failed skipped" for a JUnit file of ctest's. A cmocka executable counts by its tests; one
# that fails without a failed test of its own (a crash, a leak) is one failure more. Any other test
# counts as one. Names are counted once, for a process that forks may print its output twice.

function finish(    failed_here, skipped_here, ran, name) {
    for (name in run) ran++
    for (name in fail) failed_here++
    for (name in skip) skipped_here++
    if (status == "fail") {
        failed_here += failed_here == 0
        ran = ran > failed_here + skipped_here ? ran : failed_here + skipped_here
    } else if (status != "run") {
        ran = skipped_here = ran ? ran : 1
        failed_here = 0
    } else {
        failed_here = 0
        ran = ran ? ran : 1
    }
    passed += ran - failed_here - skipped_here
    failed += failed_here
    skipped += skipped_here
}

/^[ \t]*<testcase / {
    match($0, / status="[a-z]*"/)
    status = substr($0, RSTART + 9, RLENGTH - 10)
    split("", run); split("", fail); split("", skip)
}
{ sub(/^[ \t]*<system-out>/, "") }
/^\[ +RUN +\] / { sub(/^[^\]]*\] /, ""); run[$0] = 1; next }
/^\[ +(FAILED|ERROR) +\] / && !/test\(s\)|\] ---/ { sub(/^[^\]]*\] /, ""); fail[$0] = 1; next }
/^\[ +SKIPPED +\] / && !/test\(s\)/ { sub(/^[^\]]*\] /, ""); skip[$0] = 1; next }
/<\/testcase>/ { finish() }
END { print passed + 0, failed + 0, skipped + 0 }
