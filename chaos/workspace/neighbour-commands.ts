type Call = readonly [tool: 'bash' | 'sql', args: Readonly<Record<string, string>>]

const bash = (command: string): Call => ['bash', { command }]
const sql = (statements: string, database = 'd.db'): Call => ['sql', { database, sql: statements }]
const node = (code: string) => bash(`node -e '${code}'`)

/** What one session leaves in all that an engine could keep: a text, settings, memory, an engine that is broken. */
export function leaving(text: string): readonly Call[] {
  return [
    sql(`attach '/tmp/left.db' as p; create table p.t(x); insert into p.t values ('${text}')`),
    sql(`create temp table left(x); insert into left values ('${text}'); create table main.t(x)`),
    sql(`vacuum into '/tmp/left.db'; create view v as select '${text}' as x`, '/tmp/left.db'),
    sql(`begin; create table t(x); insert into t values ('${text}'); pragma hard_heap_limit = 300000`),
    sql('create temp table big(x); insert into big values (zeroblob(60000000)); pragma temp_store = 1'),
    sql('select length(hex(zeroblob(400000000)))'),
    sql("select randomblob(1000), nothing; select load_extension('/tmp/left')"),
    bash(`left='${text}'; export LEFT='${text}'; left() { echo '${text}'; }; alias ll='echo ${text}'; cd /tmp`),
    bash(
      `echo '${text}' | tee /tmp/left /root/left /dev/shm/left /project/left; sqlite3 /tmp/left.db "create table t(x)"`,
    ),
    bash(`git init /tmp/repository && cd /tmp/repository && git config --global user.name '${text}'`),
    node(`globalThis.left = "${text}"; Object.prototype.left = "${text}"; Array.prototype.map = null`),
    node('let o = {}, c = o; for (let i = 0; i < 1e5; i++) c = c.a = {}; JSON.stringify(o)'),
    node('const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))'),
  ]
}

/** What another session asks in the same threads. */
export const PROBES: readonly Call[] = [
  sql("attach '/tmp/left.db' as p; select * from p.t"),
  sql('select * from left'),
  sql('select name from sqlite_master union select name from sqlite_temp_master', '/tmp/left.db'),
  sql('pragma hard_heap_limit; pragma temp_store; pragma database_list; select random(), hex(randomblob(4))'),
  sql('create table t(x); insert into t values (random()); select * from t; select rowid, * from t'),
  bash('set | grep -ci left; left; ll; pwd; ls -A /tmp /root /project; cat /tmp/left /dev/shm/left'),
  bash('echo $RANDOM $$; date; sqlite3 /tmp/left.db ".tables"; git config --global user.name'),
  node('console.log(globalThis.left, {}.left, [1].map(String), Math.random(), Object.keys(globalThis).length)'),
  node('let deep = 0; const f = () => { deep++; f() }; try { f() } catch (error) { console.log(String(error), deep) }'),
]
