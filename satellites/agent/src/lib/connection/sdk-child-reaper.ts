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

/**
 * Ends the children of this process after it has died, by a crash and `kill -9` too: a shell of its own process group
 * that waits for that.
 */
export class ChildReaper {
  #shell: ChildProcess | null = null
  readonly #groups = new Set<number>()

  /** Starts the shell. Call it before a child starts, so that every child has a reaper. */
  start(): void {
    if (this.#shell || process.platform === 'win32') return
    const shell = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} })
    // Without the shell, children are only ended by the end of their standard input.
    const forget = () => {
      if (this.#shell === shell) this.#shell = null
    }
    shell.on('error', forget).on('exit', forget)
    shell.stdin.on('error', forget)
    shell.unref()
    ;(shell.stdin as unknown as { unref(): void }).unref()
    this.#shell = shell
    for (const group of this.#groups) this.#write('+', group)
  }

  add(group: number): void {
    this.#groups.add(group)
    this.#write('+', group)
  }

  remove(group: number): void {
    this.#groups.delete(group)
    this.#write('-', group)
  }

  /** Ends the shell. Resolves when it has ended. */
  async close(): Promise<void> {
    const shell = this.#shell
    this.#shell = null
    if (!shell || shell.exitCode !== null || shell.signalCode !== null) return
    const { promise, resolve } = Promise.withResolvers<void>()
    shell.ref()
    shell.once('exit', () => resolve())
    shell.stdin?.end()
    await promise
  }

  #write(change: '+' | '-', group: number): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(`${change} ${group}\n`)
  }
}
