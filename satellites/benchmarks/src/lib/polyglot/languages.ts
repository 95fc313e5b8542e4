interface Language {
  /** A script for bash, over the programs and libraries in the folder `$KIT`. */
  readonly script: string
  /** Finds how many tests passed; what it finds several times is added up, and counts as one without a number. */
  readonly passed: RegExp
}

// The commands of the original, with builds in /tmp and without a network. Its gradle is javac and JUnit's own launcher
// here: gradle would have to be downloaded for each exercise.
export const LANGUAGES = {
  cpp: {
    script: 'cmake -DEXERCISM_RUN_ALL_TESTS=1 -G "Unix Makefiles" -S . -B /tmp/build && make -C /tmp/build',
    passed: /All tests passed \(\d+ assertions? in (\d+) test cases?\)/g,
  },
  go: {
    // What the standard library was compiled to is copied, since a cache has to be written to.
    script: 'cp -r "$KIT/gocache" /tmp/gocache; GOCACHE=/tmp/gocache GOFLAGS=-mod=mod go test -v ./...',
    passed: /^--- PASS/gm,
  },
  java: {
    script: `find src/test -name '*.java' -exec sed -i -z -E 's/@Disabled\\([^)]*\\)[[:space:]]*\\n//g' {} +
find src -name '*.java' -print0 | xargs -0 javac -encoding UTF-8 -d /tmp/out -cp "$KIT/jars/*" &&
  java -cp "/tmp/out:$KIT/jars/*" org.junit.platform.console.ConsoleLauncher --scan-classpath /tmp/out --disable-banner --disable-ansi-colors`,
    passed: /\[ +(\d+) tests successful +\]/g,
  },
  javascript: {
    script: `ln -s "$KIT/npm/node_modules" node_modules; sed -i 's/\\bxtest(/test(/g' *.spec.js; npx --no-install jest ./*`,
    passed: /^Tests: .*?(\d+) passed/gm,
  },
  python: {
    script: 'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$KIT/python" python3 -m pytest -p no:cacheprovider',
    passed: /\b(\d+) passed/g,
  },
  rust: {
    script: 'CARGO_HOME="$KIT/cargo" CARGO_TARGET_DIR=/tmp/target cargo test --offline -- --include-ignored',
    passed: /^test result: ok\. (\d+) passed/gm,
  },
} as const satisfies Readonly<Record<string, Language>>
