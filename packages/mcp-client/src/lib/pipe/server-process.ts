import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { Json, JsonObject } from '@episodic/protocol'
import { lastOf, toText } from '@episodic/protocol/internal'
import { readServerLine } from '../answers/server-answer.ts'
import type { CommandTarget } from '../target.ts'
import { holdReaper, type ReaperHold } from './process-reaper.ts'
import { HAS_GROUPS, signalGroup } from './signal-group.ts'

/** The variables that a child inherits. The others of this process may be secrets. */
const INHERITED =
  process.platform === 'win32'
    ? [
        ...['APPDATA', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PROCESSOR_ARCHITECTURE', 'PROGRAMFILES'],
        ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'USERNAME', 'USERPROFILE'],
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

const MESSAGE = 16 * 1024 * 1024
/** The most characters kept of other output. */
const PRINTED = 2_000
/** Milliseconds for a child to exit after the end of its standard input, and again after SIGTERM. */
const GRACE = 2_000
/** Milliseconds after the exit of a child until its pipes are closed, even if another process holds them. */
const DRAIN = 1_000

/**
 * The process of a server over pipes.
 *
 * The child leads a process group of its own: what it starts ends with it, and Ctrl-C reaches it only through this
 * process, after its clean-up. If this process dies, the group is ended. It keeps this process alive only while a
 * request waits for its answer.
 */
export class ServerProcess {
  onclose?: (() => void) | undefined
  onmessage?: ((message: object) => void) | undefined
  readonly #server: CommandTarget
  /** The ids of the requests without an answer, by their text. */
  readonly #asked = new Map<string, Json>()
  #hold: ReaperHold | null = null
  #child: ChildProcessByStdio<Writable, Readable, Readable> | null = null
  #ended: Promise<void> = Promise.resolve()
  #printed = ''
  /** The line that has not ended yet. */
  #line = ''
  #saidTooMuch = false

  constructor(server: CommandTarget) {
    this.#server = server
  }

  /** The last output of the child that is not a message, from standard error and standard output. */
  get printed(): string {
    return lastOf(this.#printed + this.#line, PRINTED).trim()
  }

  get exit(): string | null {
    if (!this.#child) return null
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) return null
    if (this.#saidTooMuch) return `it said a message of more than ${MESSAGE} characters, and was ended`
    return signalCode === null ? `it ended with status ${exitCode}` : `it was ended by ${signalCode}`
  }

  /** Starts the process. Rejects with an `Error` that says what is missing: the command, or the folder. */
  async start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#server
    // The system says of a missing folder that there is no such command.
    if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`there is no folder ${cwd} to start it in`)
    const hold = holdReaper()
    this.#hold = hold
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    try {
      const child = spawn(command, [...args], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...inherited(), ...env },
        cwd,
        detached: HAS_GROUPS,
        windowsHide: true,
      })
      this.#child = child
      if (child.pid !== undefined) hold.add(child.pid)
      this.#follow(child)
      child.once('spawn', resolve)
      child.once('error', reject)
      await promise
    } catch (cause) {
      hold.release()
      throw startError(command, cause as NodeJS.ErrnoException)
    }
  }

  async send(message: object): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error('Not connected')
    const text = JSON.stringify(message)
    this.#noteSent(message as JsonObject)
    if (stdin.write(`${text}\n`)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    stdin.once('drain', resolve).once('close', resolve)
    await promise
  }

  async close(): Promise<void> {
    const child = this.#child
    // Pending calls reject now, and not when the child has ended.
    this.#sayClosed()
    if (child?.pid !== undefined) {
      child.ref()
      child.stdin.end()
      if (!(await endsWithin(this.#ended, GRACE))) {
        this.#signal('SIGTERM')
        if (!(await endsWithin(this.#ended, GRACE))) this.#signal('SIGKILL')
        await this.#ended
      }
    }
  }

  #follow(child: ChildProcessByStdio<Writable, Readable, Readable>): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ended = promise
    let ended = false
    const end = () => {
      if (ended) return
      ended = true
      this.#hold?.release()
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      resolve()
      this.#sayClosed()
    }
    child.on('error', () => {
      // One that did not start has no exit.
      if (child.pid === undefined) end()
    })
    child.on('exit', () => {
      // Ends the processes that are left in its group, so that none holds its pipes.
      this.#signal('SIGKILL')
      setTimeout(end, DRAIN).unref()
    })
    child.on('close', end)
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on('error', () => {})
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => this.#keep(chunk))
    child.unref()
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as { unref(): void }).unref()
  }

  #sayClosed(): void {
    const { onclose } = this
    this.onclose = undefined
    onclose?.()
  }

  #read(chunk: string): void {
    const lines = chunk.split('\n')
    lines[0] = this.#line + lines[0]
    this.#line = lines.pop() as string
    for (const line of lines) this.#take(line)
    if (this.#line.length <= MESSAGE) return
    // After a message that is too long, nothing that follows can be parsed.
    this.#line = ''
    this.#saidTooMuch = true
    this.#signal('SIGKILL')
  }

  /** Passes messages on unchecked, because the client checks them. */
  #take(line: string): void {
    const messages = readServerLine(line)
    // Many servers print a greeting.
    if (messages.length === 0) this.#keep(`${line}\n`)
    for (const message of messages)
      try {
        this.onmessage?.(this.#noteReceived(message))
      } catch {
        // What a listener throws ends no other call.
      }
  }

  #noteSent({ id, method, params }: JsonObject): void {
    if (method === 'notifications/cancelled') this.#settle((params as { requestId?: Json })?.requestId)
    else if (id !== undefined && method !== undefined) {
      if (this.#asked.size === 0) this.#child?.ref()
      this.#asked.set(toText(id), id)
    }
  }

  /** Notes an answer. A refusal without an id, of an unreadable request, is that of the only one that waits. */
  #noteReceived(message: JsonObject): JsonObject {
    const [only] = this.#asked.values()
    const answer = message.id === null && this.#asked.size === 1 ? { ...message, id: only as Json } : message
    if (answer.method === undefined) this.#settle(answer.id)
    return answer
  }

  #settle(id: Json | undefined): void {
    if (this.#asked.delete(toText(id)) && this.#asked.size === 0) this.#child?.unref()
  }

  #keep(printed: string): void {
    this.#printed = lastOf(this.#printed + printed, PRINTED)
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid !== undefined) signalGroup(pid, signal)
  }
}

async function endsWithin(ended: Promise<void>, milliseconds: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, milliseconds, false)
  try {
    return await Promise.race([ended.then(() => true), promise])
  } finally {
    clearTimeout(timer)
  }
}

function inherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name]
      // A function of Bash, which is exported as a variable.
      return value === undefined || value.startsWith('()') ? [] : [[name, value]]
    }),
  )
}

function startError(command: string, cause: NodeJS.ErrnoException): Error {
  if (cause.code !== 'ENOENT') return cause
  const apart = /\s/.test(command) ? '. Write its arguments apart from it, as `args`' : ''
  const script =
    process.platform !== 'win32' ? '' : `. A script of Windows, as npx is, is started by its shell: cmd /c ${command} …`
  return new Error(`there is no command ${command}${apart}${script}`)
}
