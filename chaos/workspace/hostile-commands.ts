/** A command line that tries to hurt its computer, or to leave it. */
export interface HostileCommand {
  readonly what: string
  readonly command: string
  /** What an answer to it must not contain. */
  readonly forbidden?: RegExp
}

/** What can be read of a machine, and of the process that serves. */
const MACHINE = /daemon:x:1|Debian|node:internal|\/home\/|\/work\/|\/workspace\/src|node_modules|EPISODIC|PATH=\/root/

const endless = (what: string, command: string): HostileCommand => ({ what, command, forbidden: MACHINE })

export const HOSTILE_COMMANDS: readonly HostileCommand[] = [
  endless('a fork bomb', ':(){ :|:& };:'),
  endless('a fork bomb of functions', 'bomb() { bomb | bomb & }; bomb'),
  endless('a loop without an end', 'while true; do :; done'),
  endless('a loop that prints', 'while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'),
  endless('a for loop of numbers', 'for ((;;)); do ((i++)); done'),
  endless('an until loop', 'until false; do true; done'),
  endless('recursion', 'f() { f; }; f'),
  endless('recursion through eval', 'x=\'eval "$x"\'; eval "$x"'),
  endless('recursion through bash -c', 'export f=\'bash -c "$f"\'; bash -c "$f"'),
  endless('recursion through source', 'echo "source /tmp/a" > /tmp/a; source /tmp/a'),
  endless('yes', 'yes > /tmp/yes'),
  endless('yes in pipes', 'yes | yes | cat | head -c 100000000'),
  endless('a text that doubles', 'x=aaaaaaaaaaaaaaaa; while :; do x="$x$x"; done; echo ${#x}'),
  endless('an array that grows', 'while :; do a+=(x x x x x x x x x x x x x x x x); done'),
  endless('braces that expand', 'echo {1..100000000}'),
  endless(
    'braces in braces',
    'echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}',
  ),
  endless('arithmetic', 'echo $((2**9999999)) $((9223372036854775807 + 1)) $((1/0))'),
  endless('a file of 10 GB', 'head -c 10000000000 /dev/zero > /tmp/big'),
  endless(
    'a file of 10 GB by seek',
    'truncate -s 10G /tmp/big; dd if=/dev/zero of=/tmp/big bs=1G count=10; fallocate -l 10G /tmp/big',
  ),
  endless(
    'a file that is appended to itself',
    'echo x > /tmp/x; for i in $(seq 60); do cat /tmp/x /tmp/x > /tmp/y; mv /tmp/y /tmp/x; done',
  ),
  endless('many files', 'for i in $(seq 200000); do echo x > /tmp/f$i; done'),
  endless(
    'deep directories',
    'd=/tmp; for i in $(seq 5000); do d=$d/d; mkdir $d; done; find /tmp | wc -l; rm -rf /tmp/d',
  ),
  endless('a long name', 'touch /tmp/$(printf "a%.0s" {1..100000})'),
  endless(
    'links in a circle',
    'ln -s /tmp/b /tmp/a; ln -s /tmp/a /tmp/b; cat /tmp/a; find -L /tmp; cp -r /tmp/a /tmp/c; ls -R /tmp/a',
  ),
  endless(
    'a link to its own directory',
    'mkdir /tmp/l; ln -s .. /tmp/l/up; ls -R /tmp/l/up/l/up/l; grep -r x /tmp/l; du -sL /tmp/l; tar cf /tmp/t.tar /tmp/l',
  ),
  endless('a directory into itself', 'mkdir -p /tmp/m/n; mv /tmp/m /tmp/m/n; cp -r /tmp/m /tmp/m/n'),
  endless(
    'a catastrophic expression for grep',
    'printf "a%.0s" {1..50000} > /tmp/as; echo "!" >> /tmp/as; grep -E "(a+)+$" /tmp/as; grep -P "(a|aa)+$" /tmp/as',
  ),
  endless(
    'a catastrophic expression for sed and awk',
    'printf "a%.0s" {1..30000} | sed -E "s/(a*)*b/x/g"; printf "a%.0s" {1..30000} | awk "/(a+)+b/ {print}"',
  ),
  endless(
    'a catastrophic expression of bash',
    'x=$(printf "a%.0s" {1..5000}); [[ $x =~ (a+)+b ]]; [[ $x == *a*a*a*a*a*a*b ]]; echo ${x//+(a)b/}',
  ),
  endless('a loop of awk', 'awk "BEGIN { while (1) x = x \\"a\\" }"'),
  endless('a loop of sed', 'echo a | sed ":a; s/a/aa/; ta"'),
  endless('a loop of jq', 'jq -n "[range(1e12)] | length"; jq -n "def f: f; f"; jq -n "last(repeat(1))"'),
  endless(
    'a loop of SQLite',
    'sqlite3 :memory: "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"',
  ),
  endless('much memory of SQLite', 'sqlite3 :memory: "select length(hex(zeroblob(1000000000)))"'),
  endless(
    'files through SQLite',
    'sqlite3 :memory: "attach \'/etc/passwd\' as p; select * from p.sqlite_master"; sqlite3 :memory: ".read /etc/passwd" ".shell id" ".system id"',
  ),
  endless(
    'an extension of SQLite',
    'sqlite3 :memory: "select load_extension(\'/lib/x86_64-linux-gnu/libc.so.6\')"; sqlite3 :memory: "select readfile(\'/etc/passwd\')"',
  ),
  endless(
    'a zip bomb',
    'head -c 3000000 /dev/zero | gzip > /tmp/z.gz; for i in $(seq 8); do cat /tmp/z.gz /tmp/z.gz > /tmp/zz.gz; mv /tmp/zz.gz /tmp/z.gz; done; gunzip -c /tmp/z.gz | wc -c',
  ),
  endless(
    'a tar with paths upward',
    'mkdir -p /tmp/t; cd /tmp/t; tar cf ../t.tar ../../../../etc; tar xf ../t.tar; ls /etc',
  ),
  endless(
    'paths upward',
    'cat ../../../../../../../etc/passwd; cat /../../etc/shadow; cd ../../../..; ls; cat /project/../../../../etc/hostname',
  ),
  endless(
    'files of the machine',
    'cat /etc/passwd /etc/os-release /etc/shadow /root/.ssh/id_rsa /proc/1/environ /proc/self/environ /proc/self/maps',
  ),
  endless(
    'the process of the server',
    'cat /proc/self/cmdline /proc/self/status /proc/*/cmdline; ls -la /proc/self/fd /proc/1; readlink /proc/self/exe',
  ),
  endless('the environment of the server', 'env; printenv; set; declare -p; export -p; echo $HOSTNAME $UID $PPID $$'),
  endless(
    'devices',
    'cat /dev/sda /dev/mem /dev/kmsg; echo x > /dev/sda; head -c 10 /dev/urandom | wc -c; ls -la /dev',
  ),
  endless(
    'sockets of bash',
    'exec 3<>/dev/tcp/127.0.0.1/22; cat <&3; echo x > /dev/udp/127.0.0.1/53; cat < /dev/tcp/localhost/80',
  ),
  endless(
    'the network',
    'curl http://169.254.169.254/latest/meta-data/; curl -k https://example.com; wget http://localhost:7337; nc localhost 22; ssh localhost; ping -c1 127.0.0.1',
  ),
  endless('signals', 'kill -9 1; kill -9 $$; kill -9 -1; killall node; pkill -9 .'),
  endless(
    'changes to its own commands',
    'echo x > /usr/bin/ls; rm -rf /usr/bin /bin /proc /dev; alias ls="rm -rf /"; ls(){ echo mine; }; ls; command ls /',
  ),
  endless('the whole disk removed', 'rm -rf / --no-preserve-root; rm -rf /*; ls -la /'),
  endless(
    'prototypes in names',
    'touch /tmp/__proto__ /tmp/constructor /tmp/toString; mkdir -p /tmp/__proto__x/hasOwnProperty; ls /tmp; echo x > /tmp/__proto__; cat /tmp/__proto__',
  ),
  endless(
    'prototypes in variables',
    'export __proto__=1 constructor=2 hasOwnProperty=3 toString=4; echo $__proto__ $constructor $toString; declare -A m; m[__proto__]=1; m[constructor]=2; echo ${m[__proto__]} ${!m[@]}',
  ),
  endless(
    'prototypes in JSON',
    'echo \'{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"x": 1}}}\' | jq . ; echo "{}" | jq ".__proto__.polluted = 1"; echo "a: &a [*a]" | yq .',
  ),
  endless(
    'prototypes in awk',
    'awk "BEGIN { a[\\"__proto__\\"] = 1; a[\\"constructor\\"] = 2; for (k in a) print k, a[k] }"',
  ),
  endless(
    'JavaScript that looks around',
    'js-exec -c "console.log(process.env, globalThis.process, typeof require)"; node -e "1"',
  ),
  endless(
    'names with odd characters',
    'touch "/tmp/$(printf \'a\\nb\')" "/tmp/\t" "/tmp/*" "/tmp/-rf" "/tmp/ "; ls -la /tmp; rm -- /tmp/*; touch $\'/tmp/\\x00\\xff\\xfe\'',
  ),
  endless(
    'lone surrogates',
    'printf "\\ud800" > /tmp/s; printf "\\xed\\xa0\\x80" >> /tmp/s; cat /tmp/s; x=$(printf "\\U0010ffff\\ud83d"); echo "$x"; export S="$x"',
  ),
  endless('control characters', 'printf "\\033]0;title\\007\\033[2J\\000\\001"'),
  endless('a here document without an end', 'cat <<END\nnever'),
  endless('quotes without an end', 'echo "never'),
  endless('deep nesting', `echo ${'$('.repeat(500)}echo a${')'.repeat(500)}`),
  endless('deep parentheses', `${'('.repeat(3_000)}true${')'.repeat(3_000)}`),
  endless('deep arithmetic', `echo $((${'('.repeat(5_000)}1${')'.repeat(5_000)}))`),
  endless('a very long line', `: ${'a'.repeat(60_000)}`),
  endless('a sort of much', 'seq 300000 | sort -R; seq 1000000 | sort -rn | tail -1'),
  endless('many pipes', `echo a ${'| cat '.repeat(2_000)}`),
  endless('sleeping for a year', 'sleep 31536000; sleep infinity; timeout 1 sleep 100; date'),
  endless('background jobs', 'for i in $(seq 1000); do sleep 1000 & done; wait; jobs'),
  endless(
    'reading for ever',
    'cat; read x; cat /dev/zero | head -c 100000000 | wc -c; tail -f /project/part-0/file-0.txt',
  ),
  endless('find that runs itself', 'find / -exec find / \\; | wc -l'),
  endless('xargs without an end', 'seq 100000 | xargs -n1 -I{} echo {} | wc -l'),
  endless('diff of large files', 'seq 200000 > /tmp/1; seq 200000 -1 1 > /tmp/2; diff /tmp/1 /tmp/2 | wc -l'),
  endless(
    'history and expansion',
    'echo ${!x@} ${x@P} ${PATH@A}; x=\'$(cat /etc/passwd)\'; echo ${x@P}; echo "${!PATH*}"; printf -v __proto__ x',
  ),
  endless(
    'a function for each name',
    'echo() { cat /etc/passwd; }; cd() { :; }; test() { exit 99; }; [ 1 = 1 ] && echo x',
  ),
  endless('exit codes', 'exit 99999; exit -1; exit abc'),
]
