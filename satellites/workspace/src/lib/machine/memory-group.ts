import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Control groups of the kernel, version 2 and 1: where groups for memory are, their limits, and how they count kills. */
const VERSIONS = [
  { root: '/sys/fs/cgroup', limits: ['memory.max', 'memory.swap.max'], events: 'memory.events' },
  {
    root: '/sys/fs/cgroup/memory',
    limits: ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'],
    events: 'memory.oom_control',
  },
] as const

/** Bounds the memory of all processes of a box together. Used for one box after another. */
export class MemoryGroup {
  readonly #folder: string
  readonly #version: (typeof VERSIONS)[number]
  #killed = 0

  private constructor(version: (typeof VERSIONS)[number], name: string) {
    this.#version = version
    this.#folder = join(version.root, name)
  }

  /** Creates a group; `null` where this process may not. */
  static create(name: string): MemoryGroup | null {
    for (const version of VERSIONS) {
      const group = new MemoryGroup(version, name)
      try {
        mkdirSync(group.#folder)
        if (existsSync(join(group.#folder, version.limits[0]))) return group
        rmdirSync(group.#folder)
      } catch {
        // The other one may work.
      }
    }
    return null
  }

  /** Removes the groups whose names begin so, once nothing is in them any more. */
  static remove(prefix: string): void {
    for (const { root } of VERSIONS)
      try {
        for (const name of readdirSync(root)) if (name.startsWith(prefix)) rmdirSync(join(root, name))
      } catch {
        // It is not there, or its last processes are ending: then it goes with the next start.
      }
  }

  bound(bytes: number): void {
    const { limits } = this.#version
    const [memory, swap] = limits.map((name) => join(this.#folder, name)) as [string, string]
    // The first kind bounds both together, and refuses a bound of one that is above that of both.
    if (existsSync(swap) && swap.includes('memsw')) writeFileSync(swap, '-1')
    writeFileSync(memory, String(bytes))
    if (existsSync(swap)) writeFileSync(swap, swap.includes('memsw') ? String(bytes) : '0')
    this.#killed = this.#kills()
  }

  add(pid: number): void {
    writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid))
  }

  /** Whether a process of the box was killed since the group was bound, for want of memory. */
  get isOver(): boolean {
    return this.#kills() > this.#killed
  }

  #kills(): number {
    const text = readFileSync(join(this.#folder, this.#version.events), 'latin1')
    return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0)
  }
}
