import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** A process, as Linux shows it. */
export interface Process {
  readonly id: number
  readonly parent: number
  readonly command: string
  /** Its variables, each with a NUL behind it. */
  readonly variables: string
}

/** Returns the processes that work in a folder, or have it in their variables. */
export function processesOf(folder: string): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${name}/${file}`, 'latin1')
        const variables = read('environ')
        if (!variables.includes(folder) && !readlinkSync(`/proc/${name}/cwd`).startsWith(folder)) return []
        const parent = Number(/^PPid:\s*(\d+)/m.exec(read('status'))?.[1])
        return [{ id: Number(name), parent, command: read('cmdline').replaceAll('\0', ' '), variables }]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}

/** How long what was killed may take to be gone, in milliseconds: a program has 4 seconds to end by itself. */
const TIMEOUT = 60_000

/** Waits until a process that works in a folder has ended, or for a minute. */
export async function waitForEnd(folder: string, id: number | undefined): Promise<void> {
  const end = performance.now() + TIMEOUT
  while (processesOf(folder).some((each) => each.id === id) && performance.now() < end) await setTimeout(50)
}

/** Waits until nothing is left of a run whose temporary files are in `folder/tmp`. Resolves with what stays. */
export async function waitForNothing(folder: string): Promise<string[]> {
  const end = performance.now() + TIMEOUT
  for (;;) {
    const left = leftovers(folder)
    if (left.length === 0 || performance.now() > end) return left
    await setTimeout(100)
  }
}

function leftovers(folder: string): string[] {
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.includes(folder))
  return [
    ...processesOf(folder).map(({ id, command }) => `process ${id}: ${command}`),
    ...sockets.map((line) => `socket ${line}`),
    ...readdirSync(join(folder, 'tmp'))
      .filter((name) => !KEPT.test(name))
      .map((name) => `folder tmp/${name}`),
  ]
}

/** What is kept between runs on purpose: compiled code. */
const KEPT = /^node-compile-cache$/
