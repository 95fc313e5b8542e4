import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))

/** A gateway in a process of its own, as a trainer has it. */
export interface StartedGateway extends AsyncDisposable {
  readonly url: string
  readonly process: ChildProcess
  /** Opens a session, or opens it again. Resolves with its key. */
  open(id: string): Promise<string>
  /** Resolves with a part of a session. */
  read<T>(id: string, part: 'trace' | 'sequences'): Promise<T>
}

/** A trace, as far as these programs read it. */
export interface ReadTrace {
  readonly turns: readonly {
    readonly prompt_token_ids: readonly number[]
    readonly completion_token_ids: readonly number[]
    readonly per_token_logps: readonly number[]
    readonly response: { readonly choices: readonly [{ readonly message: { readonly content: string } }] }
    readonly metadata: { readonly role: string; readonly drifts_from: string | null }
  }[]
}

/** Starts `episodic gateway` over a folder. */
export async function startGateway(
  folder: string,
  engineUrl: string,
  port = 0,
  options: readonly string[] = [],
): Promise<StartedGateway> {
  const args = ['gateway', folder, '--base-url', engineUrl, '--port', String(port), '--json', ...options]
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The gateway ended with ${code} before it listened.`)
  })
  ended.catch(() => {})
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string]
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string }
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` }
  const json = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${url}${path}`, { ...init, headers })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return await answer.json()
  }
  return {
    url,
    process: child,
    async open(id) {
      const body = JSON.stringify({ session_id: id })
      return ((await json('/sessions', { method: 'POST', body })) as { api_key: string }).api_key
    },
    read: async <T>(id: string, part: string) => (await json(`/sessions/${id}/${part}`)) as T,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}
