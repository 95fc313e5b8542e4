import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Versions 2 and 1 of the kernel's control groups: their folder, and the files of a bound, of what it has ended, and of
 * who is in it. A thread that moves itself is not waited for; version 2 moves only all threads of a process.
 */
const VERSIONS = [
  {
    ...{ root: '/sys/fs/cgroup', bound: 'memory.max', swap: 'memory.swap.max' },
    ...{ events: 'memory.events', members: 'cgroup.procs' },
  },
  {
    ...{ root: '/sys/fs/cgroup/memory', bound: 'memory.limit_in_bytes', swap: '' },
    ...{ events: 'memory.oom_control', members: 'tasks' },
  },
] as const

/** Bounds the memory of all processes of a box together. Used for one box after another. */
export class MemoryGroup {
  readonly #folder: string
  readonly #files: (typeof VERSIONS)[number]
  #killed = 0

  private constructor(folder: string, files: (typeof VERSIONS)[number]) {
    this.#folder = folder
    this.#files = files
  }

  /** Creates a group; `null` where this process may not. */
  static create(name: string): MemoryGroup | null {
    for (const files of VERSIONS) {
      const folder = join(files.root, name)
      try {
        mkdirSync(folder)
        if (existsSync(join(folder, files.bound))) return new MemoryGroup(folder, files)
        rmdirSync(folder)
      } catch {
        // The other one may work.
      }
    }
    return null
  }

  /** Removes the groups whose names begin so. Those with processes that are just ending go with the next start. */
  static remove(prefix: string): void {
    for (const { root } of VERSIONS)
      for (const name of existsSync(root) ? readdirSync(root) : [])
        try {
          if (name.startsWith(prefix)) rmdirSync(join(root, name))
        } catch {}
  }

  bound(bytes: number): void {
    const { bound, swap } = this.#files
    writeFileSync(join(this.#folder, bound), String(bytes))
    if (swap && existsSync(join(this.#folder, swap))) writeFileSync(join(this.#folder, swap), '0')
    this.#killed = this.#kills()
  }

  /** Opens what a process writes 0 to so that it is in the group, with all that it starts. */
  open(): number {
    return openSync(join(this.#folder, this.#files.members), 'w')
  }

  /** Whether a process was ended for want of memory since the group was bound. */
  get isOver(): boolean {
    return this.#kills() > this.#killed
  }

  #kills(): number {
    const text = readFileSync(join(this.#folder, this.#files.events), 'latin1')
    return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0)
  }
}
