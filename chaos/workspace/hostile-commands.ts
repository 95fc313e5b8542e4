import { resolve } from 'node:path'

/** A command line that tries to hurt its computer, or to leave it. */
export interface HostileCommand {
  readonly what: string
  readonly command: string
  /** What an answer to it must not contain. */
  readonly forbidden: RegExp
}

/** Where this checkout is. */
const ROOT = resolve(import.meta.dirname, '../..').replace(/[^\w/]/g, '\\$&')

/** What can be read of a machine, and of the process that serves. */
const MACHINE = new RegExp(
  `daemon:x:1|Debian|node:internal|/home/|${ROOT}|/workspace/src|node_modules|EPISODIC|PATH=/root`,
)

const hostile = (what: string, command: string): HostileCommand => ({ what, command, forbidden: MACHINE })

export const HOSTILE_COMMANDS: readonly HostileCommand[] = [
  hostile('a fork bomb', ':(){ :|:& };:'),
  hostile('a fork bomb of functions', 'bomb() { bomb | bomb & }; bomb'),
  hostile('a loop without an end', 'while true; do :; done'),
  hostile('a loop that prints', 'while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'),
  hostile('a for loop of numbers', 'for ((;;)); do ((i++)); done'),
  hostile('an until loop', 'until false; do true; done'),
  hostile('recursion', 'f() { f; }; f'),
  hostile('recursion through eval', 'x=\'eval "$x"\'; eval "$x"'),
  hostile('recursion through bash -c', 'export f=\'bash -c "$f"\'; bash -c "$f"'),
  hostile('recursion through source', 'echo "source /tmp/a" > /tmp/a; source /tmp/a'),
  hostile('yes', 'yes > /tmp/yes'),
  hostile('yes in pipes', 'yes | yes | cat | head -c 100000000'),
  hostile('a text that doubles', 'x=aaaaaaaaaaaaaaaa; while :; do x="$x$x"; done; echo ${#x}'),
  hostile('an array that grows', 'while :; do a+=(x x x x x x x x x x x x x x x x); done'),
  hostile('braces that expand', 'echo {1..100000000}'),
  hostile(
    'braces in braces',
    'echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}',
  ),
  hostile('arithmetic', 'echo $((2**9999999)) $((9223372036854775807 + 1)) $((1/0))'),
  hostile('a file of 10 GB', 'head -c 10000000000 /dev/zero > /tmp/big'),
  hostile(
    'a file of 10 GB by seek',
    'truncate -s 10G /tmp/big; dd if=/dev/zero of=/tmp/big bs=1G count=10; fallocate -l 10G /tmp/big',
  ),
  hostile(
    'a file that is appended to itself',
    'echo x > /tmp/x; for i in $(seq 60); do cat /tmp/x /tmp/x > /tmp/y; mv /tmp/y /tmp/x; done',
  ),
  hostile('many files', 'for i in $(seq 200000); do echo x > /tmp/f$i; done'),
  hostile(
    'deep directories',
    'd=/tmp; for i in $(seq 5000); do d=$d/d; mkdir $d; done; find /tmp | wc -l; rm -rf /tmp/d',
  ),
  hostile('a long name', 'touch /tmp/$(printf "a%.0s" {1..100000})'),
  hostile(
    'links in a circle',
    'ln -s /tmp/b /tmp/a; ln -s /tmp/a /tmp/b; cat /tmp/a; find -L /tmp; cp -r /tmp/a /tmp/c; ls -R /tmp/a',
  ),
  hostile(
    'a link to its own directory',
    'mkdir /tmp/l; ln -s .. /tmp/l/up; ls -R /tmp/l/up/l/up/l; grep -r x /tmp/l; du -sL /tmp/l; tar cf /tmp/t.tar /tmp/l',
  ),
  hostile('a directory into itself', 'mkdir -p /tmp/m/n; mv /tmp/m /tmp/m/n; cp -r /tmp/m /tmp/m/n'),
  hostile(
    'a catastrophic expression for grep',
    'printf "a%.0s" {1..50000} > /tmp/as; echo "!" >> /tmp/as; grep -E "(a+)+$" /tmp/as; grep -P "(a|aa)+$" /tmp/as',
  ),
  hostile(
    'a catastrophic expression for sed and awk',
    'printf "a%.0s" {1..30000} | sed -E "s/(a*)*b/x/g"; printf "a%.0s" {1..30000} | awk "/(a+)+b/ {print}"',
  ),
  hostile(
    'a catastrophic expression of bash',
    'x=$(printf "a%.0s" {1..5000}); [[ $x =~ (a+)+b ]]; [[ $x == *a*a*a*a*a*a*b ]]; echo ${x//+(a)b/}',
  ),
  hostile('a loop of awk', 'awk "BEGIN { while (1) x = x \\"a\\" }"'),
  hostile('a loop of sed', 'echo a | sed ":a; s/a/aa/; ta"'),
  hostile('a loop of jq', 'jq -n "[range(1e12)] | length"; jq -n "def f: f; f"; jq -n "last(repeat(1))"'),
  hostile(
    'a loop of SQLite',
    'sqlite3 :memory: "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"',
  ),
  hostile('much memory of SQLite', 'sqlite3 :memory: "select length(hex(zeroblob(1000000000)))"'),
  hostile(
    'files through SQLite',
    'sqlite3 :memory: "attach \'/etc/passwd\' as p; select * from p.sqlite_master"; sqlite3 :memory: ".read /etc/passwd" ".shell id" ".system id"',
  ),
  hostile(
    'an extension of SQLite',
    'sqlite3 :memory: "select load_extension(\'/lib/x86_64-linux-gnu/libc.so.6\')"; sqlite3 :memory: "select readfile(\'/etc/passwd\')"',
  ),
  hostile(
    'a zip bomb',
    'head -c 3000000 /dev/zero | gzip > /tmp/z.gz; for i in $(seq 8); do cat /tmp/z.gz /tmp/z.gz > /tmp/zz.gz; mv /tmp/zz.gz /tmp/z.gz; done; gunzip -c /tmp/z.gz | wc -c',
  ),
  hostile(
    'a tar with paths upward',
    'mkdir -p /tmp/t; cd /tmp/t; tar cf ../t.tar ../../../../etc; tar xf ../t.tar; ls /etc',
  ),
  hostile(
    'paths upward',
    'cat ../../../../../../../etc/passwd; cat /../../etc/shadow; cd ../../../..; ls; cat /project/../../../../etc/hostname',
  ),
  hostile(
    'files of the machine',
    'cat /etc/passwd /etc/os-release /etc/shadow /root/.ssh/id_rsa /proc/1/environ /proc/self/environ /proc/self/maps',
  ),
  hostile(
    'the process of the server',
    'cat /proc/self/cmdline /proc/self/status /proc/*/cmdline; ls -la /proc/self/fd /proc/1; readlink /proc/self/exe',
  ),
  hostile('the environment of the server', 'env; printenv; set; declare -p; export -p; echo $HOSTNAME $UID $PPID $$'),
  hostile(
    'devices',
    'cat /dev/sda /dev/mem /dev/kmsg; echo x > /dev/sda; head -c 10 /dev/urandom | wc -c; ls -la /dev',
  ),
  hostile(
    'sockets of bash',
    'exec 3<>/dev/tcp/127.0.0.1/22; cat <&3; echo x > /dev/udp/127.0.0.1/53; cat < /dev/tcp/localhost/80',
  ),
  hostile(
    'the network',
    'curl http://169.254.169.254/latest/meta-data/; curl -k https://example.com; wget http://localhost:7337; nc localhost 22; ssh localhost; ping -c1 127.0.0.1',
  ),
  hostile('signals', 'kill -9 1; kill -9 $$; kill -9 -1; killall node; pkill -9 .'),
  hostile(
    'changes to its own commands',
    'echo x > /usr/bin/ls; rm -rf /usr/bin /bin /proc /dev; alias ls="rm -rf /"; ls(){ echo mine; }; ls; command ls /',
  ),
  hostile('the whole disk removed', 'rm -rf / --no-preserve-root; rm -rf /*; ls -la /'),
  hostile(
    'prototypes in names',
    'touch /tmp/__proto__ /tmp/constructor /tmp/toString; mkdir -p /tmp/__proto__x/hasOwnProperty; ls /tmp; echo x > /tmp/__proto__; cat /tmp/__proto__',
  ),
  hostile(
    'prototypes in variables',
    'export __proto__=1 constructor=2 hasOwnProperty=3 toString=4; echo $__proto__ $constructor $toString; declare -A m; m[__proto__]=1; m[constructor]=2; echo ${m[__proto__]} ${!m[@]}',
  ),
  hostile(
    'prototypes in JSON',
    'echo \'{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"x": 1}}}\' | jq . ; echo "{}" | jq ".__proto__.polluted = 1"; echo "a: &a [*a]" | yq .',
  ),
  hostile(
    'prototypes in awk',
    'awk "BEGIN { a[\\"__proto__\\"] = 1; a[\\"constructor\\"] = 2; for (k in a) print k, a[k] }"',
  ),
  hostile(
    'JavaScript that looks around',
    'js-exec -c "console.log(process.env, globalThis.process, typeof require)"; node -e "1"',
  ),
  hostile(
    'names with odd characters',
    'touch "/tmp/$(printf \'a\\nb\')" "/tmp/\t" "/tmp/*" "/tmp/-rf" "/tmp/ "; ls -la /tmp; rm -- /tmp/*; touch $\'/tmp/\\x00\\xff\\xfe\'',
  ),
  hostile(
    'lone surrogates',
    'printf "\\ud800" > /tmp/s; printf "\\xed\\xa0\\x80" >> /tmp/s; cat /tmp/s; x=$(printf "\\U0010ffff\\ud83d"); echo "$x"; export S="$x"',
  ),
  hostile('control characters', 'printf "\\033]0;title\\007\\033[2J\\000\\001"'),
  hostile('a here document without an end', 'cat <<END\nnever'),
  hostile('quotes without an end', 'echo "never'),
  hostile('deep nesting', `echo ${'$('.repeat(500)}echo a${')'.repeat(500)}`),
  hostile('deep parentheses', `${'('.repeat(3_000)}true${')'.repeat(3_000)}`),
  hostile('deep arithmetic', `echo $((${'('.repeat(5_000)}1${')'.repeat(5_000)}))`),
  hostile('a very long line', `: ${'a'.repeat(60_000)}`),
  hostile('a sort of much', 'seq 300000 | sort -R; seq 1000000 | sort -rn | tail -1'),
  hostile('many pipes', `echo a ${'| cat '.repeat(2_000)}`),
  hostile('sleeping for a year', 'sleep 31536000; sleep infinity; timeout 1 sleep 100; date'),
  hostile('background jobs', 'for i in $(seq 1000); do sleep 1000 & done; wait; jobs'),
  hostile(
    'reading for ever',
    'cat; read x; cat /dev/zero | head -c 100000000 | wc -c; tail -f /project/part-0/file-0.txt',
  ),
  hostile('find that runs itself', 'find / -exec find / \\; | wc -l'),
  hostile('xargs without an end', 'seq 100000 | xargs -n1 -I{} echo {} | wc -l'),
  hostile('diff of large files', 'seq 200000 > /tmp/1; seq 200000 -1 1 > /tmp/2; diff /tmp/1 /tmp/2 | wc -l'),
  hostile(
    'history and expansion',
    'echo ${!x@} ${x@P} ${PATH@A}; x=\'$(cat /etc/passwd)\'; echo ${x@P}; echo "${!PATH*}"; printf -v __proto__ x',
  ),
  hostile(
    'a function for each name',
    'echo() { cat /etc/passwd; }; cd() { :; }; test() { exit 99; }; [ 1 = 1 ] && echo x',
  ),
  hostile('exit codes', 'exit 99999; exit -1; exit abc'),
]
