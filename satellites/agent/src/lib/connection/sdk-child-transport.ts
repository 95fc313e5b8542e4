import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { lastOf, readServerLine } from '@episodic/protocol/internal'
import { type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { ChildReaper } from './sdk-child-reaper.ts'
import type { CommandServer } from './server-config.ts'

/** The most characters of one message. */
const MESSAGE = 16 * 1024 * 1024
/** The most characters kept of other output. */
const PRINTED = 2_000
/** Milliseconds for a child to exit after the end of its standard input, and again after SIGTERM. */
const GRACE = 2_000
/** Milliseconds after the exit of a child until its pipes are closed, even if another process holds them. */
const DRAIN = 1_000

/**
 * The stdio transport, with a child process.
 *
 * The child leads a process group of its own: what it starts ends with it, and Ctrl-C reaches it only through this
 * process, after its clean-up. It does not keep the process alive.
 */
export class ChildTransport implements Transport {
  onclose: Transport['onclose']
  onerror: Transport['onerror']
  onmessage: Transport['onmessage']
  readonly #server: CommandServer
  readonly #reaper: ChildReaper
  #child: ChildProcessByStdio<Writable, Readable, Readable> | null = null
  #ended: Promise<void> = Promise.resolve()
  #printed = ''
  /** The line that has not ended yet. */
  #line = ''
  #saidTooMuch = false

  constructor(server: CommandServer, reaper: ChildReaper) {
    this.#server = server
    this.#reaper = reaper
  }

  /** The last output of the child that is not a message, from standard error and standard output. */
  get printed(): string {
    return (this.#printed + this.#line).slice(-PRINTED).trim()
  }

  /** How the child ended, or `null` while it runs. */
  get exit(): string | null {
    if (!this.#child) return null
    const { exitCode, signalCode } = this.#child
    if (exitCode === null && signalCode === null) return null
    if (this.#saidTooMuch) return `it said a message of more than ${MESSAGE} characters, and was ended`
    return signalCode === null ? `it ended with status ${exitCode}` : `it was ended by ${signalCode}`
  }

  async start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#server
    this.#reaper.start()
    const child = spawn(command, [...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...getDefaultEnvironment(), ...env },
      cwd,
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#child = child
    if (child.pid !== undefined) this.#reaper.add(child.pid)
    this.#follow(child)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    child.once('spawn', resolve)
    child.once('error', reject)
    await promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error('Not connected')
    if (stdin.write(serializeMessage(message))) return
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
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      resolve()
      this.#sayClosed()
    }
    child.on('error', (error) => this.onerror?.(error))
    child.on('exit', () => {
      // Ends the processes that are left in its group, so that none holds its pipes.
      this.#signal('SIGKILL')
      if (child.pid !== undefined) this.#reaper.remove(child.pid)
      setTimeout(end, DRAIN).unref()
    })
    child.on('close', end)
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('error', (error) => this.onerror?.(error))
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk))
    child.stderr.on('error', () => {})
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
    const messages = readServerLine(line) as unknown as JSONRPCMessage[]
    // Many servers print a greeting.
    if (messages.length === 0) this.#keep(`${line}\n`)
    for (const message of messages)
      try {
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
  }

  #keep(printed: string): void {
    this.#printed = lastOf(this.#printed + printed, PRINTED)
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      if (process.platform === 'win32') this.#child?.kill(signal)
      else process.kill(-pid, signal)
    } catch {
      // The group has no process left.
    }
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
