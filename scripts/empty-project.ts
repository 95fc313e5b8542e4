import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, runCommand } from './run-command.ts'
import { listPublished, tarballOf } from './workspace.ts'

/** A folder outside the workspace. */
export interface EmptyProject {
  readonly folder: string
  /** Runs a command there, or in another folder, and resolves with its output. Rejects if it fails. */
  run(command: Command, folder?: string): Promise<string>
}

/**
 * Lets `use` work in a new folder, and removes it. An error is printed and sets the exit code; a signal stops commands.
 */
export async function inEmptyProject(name: string, use: (project: EmptyProject) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const project = await mkdtemp(join(tmpdir(), `episodic-${name}-`))
  try {
    await use({
      folder: project,
      async run(command, folder = project) {
        const { code, output } = await runCommand(command, { folder, signal: stop.signal })
        if (code !== 0) throw new Error(`${command.join(' ')} failed with ${code}.\n${output}`)
        return output.trim()
      },
    })
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : cause)
    process.exitCode = 1
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

/**
 * Returns the published packages as dependencies on tarballs in a folder. Give them as overrides too, so that they find
 * each other there: no registry has these versions yet.
 */
export function packedPackages(tarballs: string): Record<string, string> {
  return Object.fromEntries(listPublished().map((room) => [room.name, `file:${join(tarballs, tarballOf(room))}`]))
}

/** Parses the last line that a command printed: what `--json` prints stands after warnings. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is that of the command, and its reader fails on another
export function lastJson(output: string): any {
  return JSON.parse(output.split('\n').at(-1) as string)
}
