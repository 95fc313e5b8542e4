import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type BoxOptions, INSTALL, runInBox } from './box.ts'
import { commandArguments, systemArguments } from './box-view.ts'
import { type Machine, MachineError } from './machine.ts'
import { MemoryGroup } from './memory-group.ts'
import { Pipes } from './pipes.ts'
import { createSessionMachine } from './session-machine.ts'
import { type CopiesOptions, openCopies, runOnCopy } from './working-copies.ts'

export interface BubblewrapOptions extends CopiesOptions {
  /** Absolute paths of this computer that commands see beside `/usr`, read-only, such as `/opt/go`. Default: none. */
  readonly system?: readonly string[]
}

type BoxParts = Pick<BoxOptions, 'group' | 'pipes'>

/**
 * Returns a machine that runs each command in a box on this computer, with `bwrap`. A command sees the system of this
 * computer read-only, and no other process, user, home or variable of it.
 */
export function bubblewrap(options: BubblewrapOptions = {}): Machine {
  return createSessionMachine('bubblewrap', async () => {
    const program = findProgram('bwrap')
    const { folder, pool } = await openCopies(options, (name) => MemoryGroup.remove(name))
    const args = systemArguments(folder.path)
    /** What boxes have had that have ended. */
    const parts: BoxParts[] = []
    let made = 0
    const makeParts = async (): Promise<BoxParts> => {
      const number = ++made
      const pipes = await Pipes.create(join(folder.path, `pipe-${number}`))
      return { group: MemoryGroup.create(`${folder.name}-${number}`), pipes }
    }
    return {
      pool,
      run: (kept, command, signal, discard) =>
        runOnCopy(kept, command, discard, async () => {
          const { copy, user } = kept
          const own = parts.pop() ?? (await makeParts())
          const all = [...args, ...commandArguments(command, copy, options.system ?? [])]
          const box = { ...own, program, args: all, user, folder: copy.at('/') }
          return runInBox(command, box, signal).finally(() => parts.push(own))
        }),
      close: async () => {
        await folder.remove()
        MemoryGroup.remove(folder.name)
      },
    }
  })
}

function findProgram(name: string): string {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  const found = files.find((file) => existsSync(file))
  if (found) return found
  throw new MachineError('machine-missing', `${name} is not installed. ${INSTALL}`)
}
