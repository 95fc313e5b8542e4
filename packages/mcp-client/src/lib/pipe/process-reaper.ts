import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads `+ <group>` and `- <group>` until its standard input ends, which happens however the process dies that holds
 * the other end. The groups that are left get two seconds to end by themselves, because their own input has ended too,
 * two more after SIGTERM, and then SIGKILL.
 */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
end() { for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null; done; }
wait_for_ends() {
  tries=0
  while [ $tries -lt 20 ]; do
    left=''
    for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && left=1; done
    [ -z "$left" ] && exit 0
    sleep 0.1
    tries=$((tries + 1))
  done
}
wait_for_ends; end TERM; wait_for_ends; end KILL
`

/** How many children are starting or running. */
let held = 0
let shell: ChildProcess | null = null
const groups = new Set<number>()

/** The hold of one child on the shell that ends it after this process has died. */
export type ReaperHold = ReturnType<typeof holdReaper>

/** Ends the children of this process after its death, by `kill -9` too: a shell in its own group waits for that. */
export function holdReaper() {
  held += 1
  start()
  let own: number | null = null
  let released = false
  return {
    /** Names the child's process group, once it has started. */
    add(group: number): void {
      own = group
      groups.add(group)
      write('+', group)
    },
    /** Says that the group has ended. Safe to call twice. */
    release(): void {
      if (released) return
      released = true
      if (own !== null && groups.delete(own)) write('-', own)
      held -= 1
      if (held > 0) return
      shell?.stdin?.end()
      shell = null
    },
  }
}

function start(): void {
  if (shell || process.platform === 'win32') return
  const started = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} })
  // Without the shell, children are only ended by the end of their standard input.
  const forget = () => {
    if (shell === started) shell = null
  }
  started.on('error', forget).on('exit', forget)
  started.stdin.on('error', forget)
  started.unref()
  ;(started.stdin as unknown as { unref(): void }).unref()
  shell = started
  for (const group of groups) write('+', group)
}

function write(change: '+' | '-', group: number): void {
  if (shell?.stdin?.writable) shell.stdin.write(`${change} ${group}\n`)
}
