import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { monotonic, randomText } from '@episodic/protocol/internal'
import { packTar, type TarEntry, unpackTar } from 'modern-tar'
import { type Entry, EPOCH } from '../disk/disk.ts'
import { contentOf, entryFor, toBytes } from '../disk/file-content.ts'
import { createE2bApi, type E2bApi, type Sandbox } from './e2b-api.ts'
import { type Machine, type MachineCommand, MachineError, type MachineResult } from './machine.ts'
import { FETCH_ARGUMENTS, innerScript, runScript, SANDBOX_FOLDER, UNABLE } from './sandbox-script.ts'
import { BoxLost, createSessionMachine } from './session-machine.ts'
import { createSessionPool } from './session-pool.ts'
import { bytesOf, changesOf, directoryFrom, isSame, KINDS, MOST_CHANGED, wantedOf } from './working-copy.ts'

export interface E2bOptions {
  /** Name or ID of the template of the sandboxes: a Debian with what the commands need. Default `base`. */
  readonly template?: string
  /** Default: the environment variable `E2B_API_KEY`. */
  readonly apiKey?: string
  /** Where the API is. Default: `E2B_API_URL`, else `https://api.` and `E2B_DOMAIN`, which is `e2b.app` by default. */
  readonly apiUrl?: string
  /** Where all sandboxes are reached, by a header. Default: `E2B_SANDBOX_URL`, else each at its own name. */
  readonly sandboxUrl?: string
  /** Sandboxes that there are at once, each with a command or kept for the next one of its session. Default 20. */
  readonly sandboxes?: number
  /** Seconds after which the server ends a sandbox that no command has used. Default 300. */
  readonly idleSeconds?: number
}

/** What says in the metadata of a sandbox who has created it. */
const OWNER = 'episodic_owner'

/** Milliseconds that a script may take beside its command. */
const MORE = 60_000

/** Paths that one request asks for. */
const AT_ONCE = 1_000

const unzip = promisify(gunzip)

/**
 * Returns the machine of a server of E2B's API: a sandbox for each session, created from a template. The key is read
 * when the first command runs.
 *
 * Sandboxes carry the metadata `episodic_owner`. The server ends each that is not used, also if this process is killed.
 */
export function e2b(options: E2bOptions = {}): Machine {
  return createSessionMachine('E2B', async () => {
    const { E2B_API_KEY, E2B_API_URL, E2B_SANDBOX_URL, E2B_DOMAIN = 'e2b.app' } = process.env
    const { apiKey = E2B_API_KEY, apiUrl = E2B_API_URL ?? `https://api.${E2B_DOMAIN}`, sandboxes = 20 } = options
    if (!apiKey)
      throw new MachineError(
        'machine-missing',
        'E2B needs a key: set the variable E2B_API_KEY, or pass e2b({ apiKey }). Keys are at https://e2b.dev/dashboard.',
      )
    const sandboxUrl = options.sandboxUrl ?? E2B_SANDBOX_URL
    const api = createE2bApi({ apiKey, apiUrl, sandboxUrl, domain: E2B_DOMAIN })
    const owner = randomText()
    return {
      pool: createSessionPool(
        sandboxes,
        sandboxes,
        () => createE2bSession(api, options, owner),
        (session) => session.end(),
      ),
      run: (session, command, signal, discard) => session.run(command, signal, discard),
      // What cannot be ended now is ended by its time to live.
      close: () => api.killAll(OWNER, owner).catch(() => {}),
    }
  })
}

/** The sandbox of a session, and what is known of its files. */
function createE2bSession(api: E2bApi, options: E2bOptions, owner: string) {
  let sandbox: Sandbox | null = null
  let hasNetwork = false
  /** When its time to live is to be renewed, as of `monotonic`, and the seconds of a command that it was made for. */
  let renewAt = 0
  let seconds = 0
  /** All that is in its folders by path, with what `find` says of it; `null` for what no disk has. */
  const known = new Map<string, { readonly entry: Readonly<Entry> | null; readonly line: string }>()
  return {
    end,
    async run(command: MachineCommand, signal: AbortSignal, discard: () => void): Promise<MachineResult> {
      const sandbox = await ready(command, signal)
      const { seconds, output, disk } = command.bounds
      const isChanged = await send(sandbox, command, signal)
      const script = [`${SANDBOX_FOLDER}/script`]
      const said = await archive(sandbox, script, Math.ceil(seconds * 1_000), signal)
      const part = (name: string) => Buffer.from(said.get(`./${name}`)?.data ?? [])
      if (part('began').length === 0)
        throw new MachineError('machine-refused', `A sandbox of E2B allows no namespaces: ${part('err').toString()}`)
      const wanted = wantedOf(command)
      if (isChanged) {
        known.clear()
        for (const [path, { line }] of listed(part('before')).lines)
          known.set(path, { entry: wanted.entries.get(path) ?? null, line })
      }
      const { lines, notKept } = listed(part('after'))
      // What has no name in a text cannot be removed by it.
      if (notKept.length > 0) discard()

      const changed = [...lines].filter(([path, { line }]) => known.get(path)?.line !== line)
      const gone = [...known].filter(([path]) => !lines.has(path))
      let grown = 0
      for (const [path, { size }] of changed) grown += size - bytesOf(known.get(path)?.entry ?? undefined)
      for (const [path, { entry }] of gone) {
        grown -= bytesOf(entry ?? undefined)
        known.delete(path)
      }
      const at = (name: string) => Number.parseFloat(part(name).toString() || '0') * 1_000
      const elapsed = Math.round(at('ended') - (at('began') || at('ended')))
      const exitCode = Number(part('exit').toString())
      const [stdout, stderr] = [part('out'), part('err')]
      let ended: MachineResult['ended'] = null
      if (stdout.length + stderr.length > output) ended = 'output'
      else if (grown > disk || changed.length + gone.length > MOST_CHANGED) ended = 'disk'
      else if (exitCode === 137 && elapsed >= seconds * 1_000 - 50) ended = 'time'
      else if (exitCode !== 0 && /^oom_kill [1-9]/m.test(part('memory').toString())) ended = 'memory'
      if (ended) {
        // The next command of the session removes them.
        for (const [path, { line }] of changed) known.set(path, { entry: null, line })
        return { stdout, stderr, exitCode: 137, changes: [], grown: 0, elapsed, ended, notKept: [] }
      }

      const made = new Map<string, Entry | null>(gone.map(([path]) => [path, null]))
      const fetched = await fetch(sandbox, changed, signal)
      for (const [path, { line, links }] of changed) {
        const isDirectory = line.startsWith('d')
        const before = known.get(path)?.entry ?? undefined
        const entry =
          (isDirectory ? directoryFrom(Number.parseInt(line.slice(1), 8), before) : fetched.get(path)) ?? null
        if (!entry) notKept.push(`${path} was ${KINDS[line.charAt(0)] ?? 'no file'}, which is not kept.`)
        made.set(path, entry)
        // Files that are one could change each other later, so each is written anew.
        known.set(path, { entry: links > 1 && !isDirectory ? null : entry, line })
      }
      return { stdout, stderr, exitCode, changes: changesOf(command, wanted, made), grown, elapsed, ended, notKept }
    },
  }

  async function end(): Promise<void> {
    // One that cannot be ended now is ended by its time to live.
    if (sandbox) await api.kill(sandbox.id).catch(() => {})
    sandbox = null
    known.clear()
  }

  /** Returns the sandbox, created if there is none, with a time to live that is longer than the command's. */
  async function ready({ network, bounds }: MachineCommand, signal: AbortSignal): Promise<Sandbox> {
    const { template = 'base', idleSeconds = 300 } = options
    const ttl = Math.ceil(idleSeconds + bounds.seconds)
    if (hasNetwork !== network) await end()
    if (sandbox && monotonic() < renewAt && bounds.seconds <= seconds) return sandbox
    if (sandbox && !(await api.setTimeout(sandbox, ttl, signal))) await end()
    const metadata = { [OWNER]: owner }
    const fields = { templateID: template, timeout: ttl, metadata, secure: true, allow_internet_access: network }
    sandbox ??= await api.create(fields, signal)
    hasNetwork = network
    seconds = bounds.seconds
    renewAt = monotonic() + idleSeconds * 500
    return sandbox
  }

  /** Sends a command, and of its files those that differ. Returns whether there are any. */
  async function send(sandbox: Sandbox, command: MachineCommand, signal: AbortSignal): Promise<boolean> {
    const { entries } = wantedOf(command)
    const removed = [...known].flatMap(([path, { entry }]) => {
      const next = entries.get(path)
      return next && entry && (next.kind === 'directory') === (entry.kind === 'directory') ? [] : [path]
    })
    const written = [...entries].filter(([path, entry]) => {
      const there = known.get(path)?.entry
      return !there || !isSame(there, entry)
    })
    let bytes = 0
    for (const entry of entries.values()) bytes += bytesOf(entry)
    const isChanged = removed.length > 0 || written.length > 0
    const files = {
      script: Buffer.from(runScript(command, removed, isChanged)),
      inner: Buffer.from(innerScript(command, bytes + command.bounds.disk + 1_024)),
      stdin: command.stdin,
      input: await packTar(written.map(([path, entry]) => packed(path, entry))),
    }
    const named = Object.entries(files).map(([name, content]) => [`${SANDBOX_FOLDER}/${name}`, content])
    await api.upload(sandbox, Object.fromEntries(named), signal)
    return isChanged
  }

  async function archive(sandbox: Sandbox, args: readonly string[], milliseconds: number, signal: AbortSignal) {
    const { stdout, stderr, exitCode } = await api.runShell(sandbox, args, milliseconds + MORE, signal)
    const said = stderr.slice(0, 2_000)
    if (exitCode === UNABLE)
      throw new MachineError(
        'machine-missing',
        `The template of E2B's sandboxes lacks what commands need: tar and find of GNU, util-linux, and root. ${said}`,
      )
    if (exitCode !== 0) throw new BoxLost(`its script ended with ${exitCode}: ${said}`, true)
    const entries = await unzip(stdout)
      .then(unpackTar)
      .catch((cause: unknown) => {
        throw new BoxLost('its archive is damaged.', true, cause)
      })
    return new Map(entries.map((entry) => [entry.header.name, entry]))
  }

  async function fetch(sandbox: Sandbox, changed: readonly [string, { line: string }][], signal: AbortSignal) {
    const paths = changed.flatMap(([path, { line }]) => (/^[fl]/.test(line) ? [`.${path}`] : []))
    const found = new Map<string, Entry>()
    for (let i = 0; i < paths.length; i += AT_ONCE) {
      const args = [...FETCH_ARGUMENTS, ...paths.slice(i, i + AT_ONCE)]
      for (const [name, { header, data }] of await archive(sandbox, args, 0, signal)) {
        const { type = 'file', linkname = '', mtime } = header
        const mode = (header.mode ?? 0o644) & 0o7777
        const modified = mtime?.getTime() ?? EPOCH
        const common = { ...(mode !== 0o644 && { mode }), ...(modified !== EPOCH && { modified }) }
        if (type === 'file') found.set(name.slice(1), { ...entryFor(data ?? new Uint8Array()), ...common })
        else if (!linkname.includes('\ufffd')) found.set(name.slice(1), { kind: 'link', target: linkname })
      }
    }
    return found
  }
}

function packed(path: string, entry: Readonly<Entry>): TarEntry {
  const name = path.slice(1)
  if (entry.kind === 'link') return { header: { name, type: 'symlink', linkname: entry.target, size: 0 } }
  const { mode, modified = EPOCH } = entry
  const mtime = new Date(modified)
  if (entry.kind === 'directory')
    return { header: { name: `${name}/`, type: 'directory', size: 0, mode: mode ?? 0o755, mtime } }
  const body = toBytes(contentOf(entry))
  // The header of the archive has whole seconds.
  const pax = { mtime: String(modified / 1_000) }
  return { header: { name, size: body.length, mode: mode ?? 0o644, mtime, pax }, body }
}

/** Reads a list of `find`: of each path a line that is another once it has changed, its bytes and its names. */
function listed(list: Buffer) {
  const lines = new Map<string, { line: string; size: number; links: number }>()
  const notKept: string[] = []
  for (let at = 0; at < list.length; ) {
    const from = list.indexOf(0, at) + 1
    const [kind = '', time, inode, size, links] = list.toString('latin1', at, from - 1).split(' ')
    at = list.indexOf(0, from) + 1
    const raw = list.subarray(from, at - 1)
    const path = raw.toString()
    if (!Buffer.from(path).equals(raw)) notKept.push(`${path} had a name that is no UTF-8, which is not kept.`)
    // A directory has another time with what is in it.
    else if (kind.startsWith('d')) lines.set(path, { line: kind, size: 0, links: 1 })
    else {
      const bytes = kind.startsWith('f') ? Number(size) : 0
      lines.set(path, { line: `${kind} ${time} ${inode}`, size: bytes, links: Number(links) })
    }
  }
  return { lines, notKept }
}
