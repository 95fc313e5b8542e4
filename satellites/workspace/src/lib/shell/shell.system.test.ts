import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createDisk, runCommand } from '../../index.ts'

const DISK = createDisk({ '/app/notes.txt': 'one\n' })

describe('git', () => {
  it('keeps commits on the disk, with the time of the session, if it was asked for', async () => {
    const script = 'git init >/dev/null; git add -A; git commit -m one >/dev/null; echo two >> notes.txt; git status -s'
    const { stdout, stderr } = await runCommand(DISK, `${script}; git log --format=%ai`, { cwd: '/app', git: true })
    expect({ stdout, stderr }).toEqual({ stdout: ' M notes.txt\n2025-01-01 00:00:00 +0000\n', stderr: '' })
  })

  it('is not there otherwise', async () => {
    expect(await runCommand(DISK, 'git status')).toMatchObject({
      exitCode: 127,
      stderr: expect.stringMatching(/command not found/),
    })
  })
})

describe('node', () => {
  const run = (command: string, files: Readonly<Record<string, string>> = {}) =>
    runCommand(createDisk({ '/app/src/add.js': 'export const add = (a, b) => a + b\n', ...files }), command, {
      cwd: '/app',
      languages: ['javascript'],
    })

  it.each([
    [
      'imports',
      'import { add } from "./src/add.js"; console.log(add(5, 3), Date.now(), undefined)',
      '8 1735689600000 undefined\n',
      0,
    ],
    ['its arguments', 'console.log(process.argv.slice(2).join())', 'x,y z\n', 0],
    [
      'a file',
      'import { readFileSync } from "node:fs"; console.log(readFileSync("src/add.js", "utf8").length)',
      '35\n',
      0,
    ],
    ['a status', 'console.log(1); process.exit(3); console.log(2)', '1\n', 3],
    ['an end that is caught', 'try { process.exit(3) } finally { console.log(1) }', '', 3],
    ['an error', 'console.log(1); throw new TypeError("bad")', '1\n', 1],
    [
      'a main function',
      'const main = async () => { await null; throw new Error("no") }; main().catch((e) => { console.log(e.message); process.exit(6) })',
      'no\n',
      6,
    ],
  ] as const)('runs modules: %s', async (_, code, stdout, exitCode) => {
    expect(await run('node main.js x "y z"', { '/app/main.js': code })).toMatchObject({ stdout, exitCode })
  })

  it('runs code of its command line and of its input', async () => {
    const { stdout, exitCode } = await run('node -p 1+1; echo "console.log(2)" | node -; node -e "process.exit(5)"')
    expect({ stdout, exitCode }).toEqual({ stdout: '2\n2\n', exitCode: 5 })
  })

  it('draws from the session', async () => {
    const command = 'node -p "Math.random()"; node -p "Math.random()"'
    const { stdout } = await run(command)
    expect(new Set(stdout.split('\n')).size).toBe(3)
    expect(await run(command)).toMatchObject({ stdout })
  })

  it.each([
    ['node --test', 9],
    ['node -e "console.log({})"', 1],
    ['node -e "console.log(\'%d\', 1)"', 1],
    ['node -e "setTimeout(() => {}, 1)"', 1],
    ['node old.cjs', 1],
    ['node none.js', 1],
  ])('refuses what it would do otherwise than Node: %s', async (command, exitCode) => {
    const { stdout, stderr, exitCode: got } = await run(command, { '/app/old.cjs': '' })
    expect({ stdout, exitCode: got }).toEqual({ stdout: '', exitCode })
    expect(stderr).not.toBe('')
  })

  it('is not there if it was not asked for', async () => {
    expect(await runCommand(DISK, 'node -e 1')).toMatchObject({ exitCode: 127 })
  })
})

describe('bytes', () => {
  const BYTES = Uint8Array.of(0, 1, 2, 80, 78, 71, 255, 254, 10, 128, 97, 98, 99, 10)
  const disk = createDisk({ '/app/bin.dat': BYTES })
  const run = async (command: string) => (await runCommand(disk, command, { cwd: '/app' })).stdout.trim()
  const ALL = Buffer.from(BYTES).toString('base64')

  it.each([
    'cat bin.dat | cat | base64',
    'cat < bin.dat > two; base64 two',
    'head -c 9 bin.dat > two; tail -n +2 bin.dat >> two; base64 two',
    'gzip -k bin.dat; gunzip -c bin.dat.gz | base64',
    'tar cf - bin.dat | tar xOf - | base64',
    'sed s/nothing/x/ bin.dat | awk 1 | tac | tac | base64',
    'cat <(cat bin.dat) | base64',
    'base64 bin.dat | base64 -d | split -b 5 - part.; cat part.* | base64',
    "printf '\\x00\\x01\\x02PNG\\xff\\xfe\\n\\x80abc\\n' | base64",
  ])('are the same after %s', async (command) => {
    expect(await run(command)).toBe(ALL)
  })

  it('are kept in variables, and in text that has them', async () => {
    expect(await run('x=$(printf "a\\xffé"); printf "%s" "$x" | base64')).toBe('Yf/DqQ==')
    expect(await run('printf "\\xe9t\\xe9\\n" | sed s/t/x/ | base64')).toBe('6XjpCg==')
    expect(await run('printf "a\\xe9\\n" | while read l; do echo "[$l]"; done | base64')).toBe('W2HpXQo=')
  })
})

describe('letters beyond ASCII', () => {
  it.each([
    ['echo é; printf "é\\n" | sed s/x/y/ | awk "{print}"', 'é\né\n'],
    ['echo "été Ã©"; x=$(echo ñ); echo "$x"', 'été Ã©\nñ\n'],
    ['set -e; read x < /dev/null || echo é > e; while IFS= read -r l; do echo "<$l>" >> f; done < e; cat f', '<é>\n'],
    ['echo "é ü" | { read a b; echo "$b $a"; }; read <<< €; echo "$REPLY"', 'ü é\n€\n'],
    ['echo é > e; read -u 3 x 3< e; echo "$x"; exec 4< e; read y <&4; echo "$y"', 'é\né\n'],
    ['f() { read -p name x || echo "$? $x"; }; f < /dev/null; printf é | f; read x < none; echo $?', '1 \n1 é\n1\n'],
    ['read x < /dev/null && echo yes; read -d "" -n 2 x <<< ab; echo "$x"; IFS=: read _ x <<< a:ö; echo $x', 'ab\nö\n'],
  ])('are one letter each: %s', async (command, stdout) => {
    expect(await runCommand(DISK, command, { cwd: '/app' })).toMatchObject({ stdout })
    expect(execFileSync('bash', ['-c', `cd "$(mktemp -d)"; ${command}`], { stdio: 'pipe' }).toString()).toBe(stdout)
  })

  it('are those of what is printed as an error', async () => {
    const { stderr } = await runCommand(DISK, 'echo é > e; cat e >&2; echo ü >&2; cat /nö')
    expect(stderr).toBe('é\nü\ncat: /nö: No such file or directory\n')
  })
})

describe('time, chance and place', () => {
  it('are those of the session in every language, wherever it runs', async () => {
    const command = [
      'date -d "2024-07-01 12:00" +%s; printf "%(%H %Z)T\\n" 0; echo $RANDOM',
      "sqlite3 :memory: \"select datetime(0, 'unixepoch', 'localtime'), random()\"",
      `node -e 'console.log(String(new Date(2024, 6, 1)), new Date("2024-07-01 12:00").getTime(), new Date(0).toLocaleString(), Math.random())'`,
    ].join('; ')
    const library = JSON.stringify(new URL('../../index.ts', import.meta.url).href)
    const program = `import { createDisk, runCommand } from ${library}
      const { stdout, stderr } = await runCommand(createDisk({}), ${JSON.stringify(command)}, { languages: ['javascript'] })
      console.log(stdout + stderr)`
    const inPlace = (env: NodeJS.ProcessEnv) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        env: { ...process.env, ...env },
      }).toString()
    const here = inPlace({ TZ: 'UTC' })
    expect(here).toMatch(/^1719835200\n00 UTC\n/)
    expect(inPlace({ TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' })).toBe(here)
  })
})

describe('a form that is known to be answered wrongly', () => {
  it.each([
    'grep -e one -e two notes.txt',
    "awk 'length > 2' notes.txt",
    "awk 'NR==FNR{a[$1];next} $1 in a' notes.txt notes.txt",
    "sed 's/one/\\U&/' notes.txt",
    "sed '1a\\  two' notes.txt",
    "sed '$a\\' notes.txt",
    'sed -i.bak s/one/two/ notes.txt',
    'sed s/one/two notes.txt',
    'sort -k1,1nr -k2 notes.txt',
    "echo null | jq '.a.b = 1'",
    'od -An -tx1 notes.txt',
    'diff notes.txt /dev/null',
    "tr '\\141' b < notes.txt",
    'echo 1 | jq 1781234567890123456',
    "sed 's/o/X/2g' notes.txt",
    "sed -E 's/o+?/x/' notes.txt",
    "awk '{ if (!($1 in b)) b[$1]; } END { print length(b) }' notes.txt",
    "awk -F'\\t' -v OFS=, '{$1=$1}1' notes.txt",
    'awk \'BEGIN{RS=";"}{print}\' notes.txt',
    "awk 'BEGIN{print int(-3.7)}'",
    'awk \'BEGIN{printf "%.2e", 12345.678}\'',
    'echo "{}" | jq "(.a,.b).c = 9 | .x //= 3"',
    'echo \'"banana"\' | jq \'[match("a";"g").offset]\'',
    'ln -s notes.txt l && ls -l',
    'mkdir src && ln -s src l && cp -r l copy',
    'mkdir src && ln -s ../notes.txt src/l && tar cf all.tar src',
    'mkdir src && ln -s src l && readlink -f l/add.js',
  ])('is refused with its name: %s', async (command) => {
    const { stdout, stderr, exitCode } = await runCommand(DISK, command, { cwd: '/app' })
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 })
    expect(stderr).toMatch(/^\w+: not available here: /)
  })

  it.each([
    ['grep -e one notes.txt', 'one\n'],
    ["awk 'length($0) > 2 && !seen[$1]++' notes.txt", 'one\n'],
    ["sed -e '1a two' -e 's/o/O/g' -n -e p notes.txt", 'One\ntwo\n'],
    ['sort -k2,2n -k1,1r notes.txt', 'one\n'],
    ["echo '{}' | jq -c '.a = 1'", '{"a":1}\n'],
    ["sed 's/one/{}?/;/2gone/d' notes.txt", '{}?\n'],
    ['awk -v N=2 \'BEGIN{OFS="-"} 2 % N == 0{$1=$1; print N, "int(x) RS=1"}\' notes.txt', '2-int(x) RS=1\n'],
    ["echo 1 | jq -c --arg v 'f(a,b)=c' '[., 2] == [1,2]'", 'true\n'],
    [
      'mkdir src && ln -s src l && touch src/a && ls && cp -r src copy && ls copy && readlink -f l',
      'l\nnotes.txt\nsrc\na\n/app/src\n',
    ],
  ])('is no form beside it: %s', async (command, stdout) => {
    expect(await runCommand(DISK, command, { cwd: '/app' })).toMatchObject({ stdout, exitCode: 0 })
  })
})

describe('a redirection that fails', () => {
  it('loses nothing that was printed before, and the line goes on', async () => {
    const lines = [
      'echo first; echo data > f1; echo x > nodir/f; echo second; cat f1',
      '{ echo a; } > nodir/x || echo failed; echo $(echo in >> nodir/y; echo $?)',
      'f() { echo x > /bin/sh; echo "in f $?"; }; f; echo x > src; echo "$?"; echo x 2> /dev/null > "$PWD/f2"; cat f2',
    ]
    const disk = createDisk({ '/app/src/a': '' })
    const { stdout, stderr, exitCode } = await runCommand(disk, lines.join('\n'), { cwd: '/app' })
    expect(stdout).toBe('first\nsecond\ndata\nfailed\n1\nin f 1\n1\nx\n')
    expect({ exitCode, isMarked: /[^\0-\x7f]/.test(stderr) }).toEqual({ exitCode: 0, isMarked: false })
  })
})

describe('names and links', () => {
  it('that no disk has are refused', async () => {
    for (const name of ['/a\0b', '/\ud800', `/${'a'.repeat(256)}`])
      expect(() => createDisk({ [name]: '' })).toThrow(TypeError)
    const { stderr, exitCode } = await runCommand(DISK, `touch ${'a'.repeat(300)}`)
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringMatching(/name too long/i), exitCode: 1 })
  })

  it('are removed, replaced and moved as what they are', async () => {
    const disk = createDisk({ '/app/src/a': '', '/app/dir': { link: 'src' }, '/app/broken': { link: 'nowhere' } })
    const { stdout } = await runCommand(disk, 'ln -sf src/a broken; readlink broken; rm dir broken; ls', {
      cwd: '/app',
    })
    expect(stdout).toBe('src/a\nsrc\n')
  })
})

describe('a script', () => {
  const SCRIPTS = createDisk({
    '/app/run.js': { content: '#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join())\n', mode: 0o755 },
    '/app/run.sh': { content: '#!/bin/bash\necho "$1"\n', mode: 0o755 },
    '/app/sed': { content: '#!/bin/sed -nf\n2p\n', mode: 0o755 },
    '/app/strict.sh': { content: '#!/bin/bash -e\necho "$1"; false\necho no\n', mode: 0o755 },
    '/app/run.pl': { content: '#!/usr/bin/perl -w\nprint 1;\n', mode: 0o755 },
    '/app/plain.js': '#!/usr/bin/env node\nconsole.log(1)\n',
  })

  it.each([
    ['./run.js a "b c"', 'a,b c\n', 0],
    ['echo x | /app/run.js; ./run.sh y', '\ny\n', 0],
    ['for i in 1 2; do ./run.js $i; done', '1\n2\n', 0],
    ['./run.pl', '', 127],
    ['./sed plain.js', 'console.log(1)\n', 0],
    ['./strict.sh a', 'a\n', 1],
    ['./plain.js', '', 126],
    ['sed s/1/2/ plain.js > new.js; chmod +x new.js; ./new.js', '2\n', 0],
    ['cd /; app/run.js "x y"; d=/app; "$d"/run.js z; ./app/none', 'x y\nz\n', 127],
    ['export V=1; printf "echo \\$V \\$1; read x; echo \\$x; exit 3" > s; chmod +x s; echo in | ./s a', '1 a\nin\n', 3],
    ['./run.sh "a  b" && /bin/echo c; x=1; echo "echo [\\$x\\$y]" > s; chmod +x s; y=2 ./s', 'a  b\nc\n[2]\n', 0],
  ] as const)('is run by the program of its first line: %s', async (command, stdout, exitCode) => {
    const found = await runCommand(SCRIPTS, command, { cwd: '/app', languages: ['javascript'] })
    expect(found).toMatchObject({ stdout, exitCode })
  })
})

describe('integers of the shell', () => {
  it.each([
    [
      'echo $((1<<40)) $((3 * 2**45)) $((-5>>1)) $((~7)) $((12 & 10 | 1 ^ 3))',
      '1099511627776 105553116266496 -3 -8 10\n',
    ],
    ['i=5; echo $((i++)) $i $((--i)) $(( x = i * 2, x - 1 )); set | grep -c __int9', '5 6 5 9\n0\n'],
    [
      'x=7; ((x += 3)) && echo $x; a=(1 2); ((a[1] -= 5)); echo $((a[0] + a[1])); y=4; echo $(( $x % $y ))',
      '10\n-2\n2\n',
    ],
    [
      's=100; e=350; echo $(( ($e - $s) / 10 )); op=+; echo $((3 $op 4)) $((nothing + 1)) $((5 > 3 ? 1 : 2))',
      '25\n7 1 1\n',
    ],
  ])('are those of bash: %s', async (command, stdout) => {
    expect(await runCommand(DISK, command)).toMatchObject({ stdout, stderr: '' })
    expect(execFileSync('bash', ['-c', command.split('; set')[0] as string]).toString()).toBe(
      stdout.replace(/\n0\n$/, '\n'),
    )
  })

  it.each([
    'echo $((1<<62))',
    'echo $((4294967295 & 255))',
    'echo $(( $(echo 1764491234123456789) / 1000 ))',
    'a=(5 6); i=0; echo $((${a[$i+1]} + 1))',
  ])('are refused where the library would count wrongly: %s', async (command) => {
    const { stdout, stderr, exitCode } = await runCommand(DISK, command)
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 })
    expect(stderr).toMatch(/\[(integers of more than \d+ bits|other expansions than)/)
  })
})
