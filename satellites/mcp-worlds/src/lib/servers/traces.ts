import { readdir, readFile, rm } from 'node:fs/promises'

/** The variable by which processes of a server are found that have left its group, such as browsers. */
export const MARK = 'EPISODIC_MCP_SERVER'

export interface Trace {
  /** The value of {@link MARK}. */
  readonly mark: string
  readonly folder: string
}

/** A line that a guardian reads: a server that starts, or, with nothing but its mark, one that has ended. */
export type GuardedLine = Trace | Pick<Trace, 'mark'>

/** How often processes are looked for: one that was found may have started another meanwhile. */
const PASSES = 20

/** Processes by their ids, with the times when they began: an id alone may be another one's later. */
type Processes = ReadonlyMap<number, string>

/** Ends the processes of a server, and those that were found before it ended, and removes its folder. */
export async function endTrace({ mark, folder }: Trace, found: Processes = new Map()): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    const left = await findProcesses(mark, found)
    if (left.size === 0) break
    for (const id of left.keys()) kill(id)
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Returns the processes with a mark, those of `known` that still run, and all that these have started, on Linux. */
export async function findProcesses(mark: string, known: Processes = new Map()): Promise<Processes> {
  const found = new Map<number, string>()
  if (process.platform !== 'linux') return found
  const read = (name: string, file: string) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')
  const all = await Promise.all(
    (await readdir('/proc')).filter(Number).map(async (name) => {
      const [variables, stat] = await Promise.all([read(name, 'environ'), read(name, 'stat')])
      // After the name of its program in brackets, which may have some itself.
      const [state, parent, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const [id, began = ''] = [Number(name), more[17]]
      const isOurs = variables.includes(`${MARK}=${mark}\0`) || known.get(id) === began
      return { id, parent: Number(parent), began, isOurs, isOver: state === 'Z' }
    }),
  )
  const add = ({ id, began, isOver }: (typeof all)[number]) => {
    if (found.has(id)) return
    if (!isOver) found.set(id, began)
    for (const child of all) if (child.parent === id) add(child)
  }
  for (const each of all) if (each.isOurs) add(each)
  return found
}
