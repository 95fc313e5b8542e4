import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { HAS_GROUPS, signalGroup } from '@episodic/mcp-client/pipe'
import { lastOf } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'

/** Milliseconds between asking a process to stop and killing it. */
const GRACE = 2_000
/** The same for one that is asked in the talk with it: it may have something left to say. */
const TALK_GRACE = 5_000
/** Characters of its last output that are kept, and that an error message quotes. */
const KEPT_OUTPUT = 8_000
const QUOTED_OUTPUT = 500

/**
 * Kills the whole group when this process is gone, however it ended: file descriptor 3 is a pipe to which nothing is
 * ever written, and which then closes. The command itself does not inherit the pipe.
 */
const ENDS_WITH_US = `(trap '' TERM; read -r _ <&3; kill -9 0) >/dev/null 2>&1 &
exec 3<&-
`

export interface AgentProcessOptions {
  readonly env: NodeJS.ProcessEnv
  /** Its working folder. Default: that of this process. */
  readonly cwd?: string
  /** Its own folder, which is removed if this process exits first. */
  readonly folder: string
  /** Asks the group to stop, and kills it 2 s later. Where there is a talk, that asks it, and the group has 5 s. */
  readonly signal: AbortSignal
  /** Speaks with the process over its input and output. The process is ended afterwards. Default: nobody does. */
  readonly talk?: (child: ChildProcess) => Promise<void>
}

/**
 * Runs a shell command in a process group of its own, until it exits, or until the talk with it is over. The group is
 * killed at once when its shell ends, and if this process is killed. A daemon that leaves the group is not found. On
 * Windows, whose shell is `cmd`, it is not killed with this process, and it is ended without being asked first.
 *
 * Rejects with `policy-failed` for a status other than 0, and for an exit during the talk, with its last output.
 */
export async function runAgentProcess(
  command: string,
  { env, cwd, folder, signal, talk }: AgentProcessOptions,
): Promise<void> {
  const stream = talk ? 'pipe' : 'ignore'
  const child = spawn(HAS_GROUPS ? `${ENDS_WITH_US}${command}` : command, {
    shell: true,
    // In its own process group, so that everything that it starts ends with it.
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: [stream, stream, 'pipe', 'pipe'],
    env,
    cwd,
  })
  const stderr = child.stderr as Readable
  let output = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    output = lastOf(output + text, KEPT_OUTPUT)
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const kill = (how: NodeJS.Signals) => {
    if (child.pid !== undefined) signalGroup(child.pid, how)
  }
  let last: NodeJS.Timeout | undefined
  const stop = () => {
    if (!talk) kill('SIGTERM')
    last = setTimeout(() => kill('SIGKILL'), talk ? TALK_GRACE : GRACE)
  }
  // If this process exits first, end everything that it started.
  const stay = endAtExit(() => {
    kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    const ended = exited.then(async ([status, how]) => {
      // The rest of its group ends too. A daemon that left the group may keep the pipe open.
      if (!signal.aborted) kill('SIGKILL')
      await finished(stderr, { signal: AbortSignal.timeout(GRACE) }).catch(() => {})
      if ((status === 0 && !talk) || signal.aborted) return
      throw new HarnessError('policy-failed', `The agent ended with ${how ?? `status ${status}`}${quoted(output)}`)
    })
    if (!talk) return await ended
    // A talk that breaks off with the process fails for the same reason.
    const talked = talk(child).catch(async (cause: unknown) => {
      await Promise.race([ended, pause(GRACE)])
      throw cause
    })
    await Promise.race([talked, ended])
    // Its exit afterwards is no failure.
    ended.catch(() => {})
  } finally {
    signal.removeEventListener('abort', stop)
    stay()
    clearTimeout(last)
    kill('SIGKILL')
    stderr.destroy()
  }
}

const running = new Set<() => void>()
const endAll = () => {
  for (const end of running) end()
}

/** Calls `end` when this process exits, unless the returned function is called first. All share one listener. */
function endAtExit(end: () => void): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.add(end)
  return () => {
    running.delete(end)
    if (running.size === 0) process.off('exit', endAll)
  }
}

function quoted(output: string): string {
  const words = output.replaceAll(/^\s+at .*\n?/gm, '').trim()
  return words === '' ? '.' : `: ${cleanText(lastOf(words, QUOTED_OUTPUT))}`
}
