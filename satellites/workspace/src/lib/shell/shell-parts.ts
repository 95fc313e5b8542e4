import { Bash, type BashOptions, type Command, defineCommand, type InMemoryFs } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { Disk } from '../disk/disk.ts'
import { EditedDisk, FULL_ACCESS } from '../disk/edited-disk.ts'
import { entryFor } from '../disk/file-content.ts'
import { sqlite3 } from '../sql/sqlite3-command.ts'
import { node, nodeStart } from './node-command.ts'
import { ProgramFaults, type ProgramModule, programCommands, serviceFetch } from './programs.ts'

/** A language that programs on the disk may be written in. Others need a machine. */
export type Language = 'javascript'

export interface ShellChoice {
  readonly languages: readonly Language[]
  readonly git: boolean
  readonly programs: string | null
}

type ShellParts = Pick<BashOptions, 'customCommands' | 'fetch' | 'javascript'>

export async function shellParts(
  { languages, git, programs }: ShellChoice,
  disk: EditedDisk,
  clock: VirtualClock,
  faults: ProgramFaults,
): Promise<ShellParts> {
  const module: ProgramModule = programs === null ? {} : await import(programs)
  const fetch = serviceFetch(module, disk, clock, faults)
  return {
    customCommands: [
      defineCommand('whoami', async () => ({ stdout: 'root\n', stderr: '', exitCode: 0 })),
      sqlite3(disk, clock),
      ...(languages.includes('javascript') ? [node(clock)] : []),
      ...(git ? [await gitCommand()] : []),
      ...programCommands(module, disk, clock, faults),
    ],
    ...(fetch && { fetch }),
    javascript: languages.includes('javascript') && { bootstrap: nodeStart(clock) },
  }
}

/** Returns `git` over the repositories on the disk. It reaches no network. */
async function gitCommand(): Promise<Command> {
  const { createGit } = await import('just-git').catch((cause) => {
    throw new Error('The option `git` needs a package. Install it: npm install just-git@1', { cause })
  })
  return createGit({ network: false, identity: { name: 'root', email: 'root@localhost' } }) as Command
}

/** Directories of the shell's own, which are on no disk. */
export const SYSTEM = ['/bin', '/dev', '/proc', '/usr/bin']

const systems = new Map<string, Promise<Disk>>()

/** Returns what is in the directories of the shell's own, where it finds its programs, as `ls` and `which` do. */
export function systemDisk(choice: ShellChoice, clock: VirtualClock): Promise<Disk> {
  const key = JSON.stringify([choice.languages, choice.git, choice.programs])
  const known = systems.get(key) ?? readSystem(choice, clock)
  systems.set(key, known)
  return known
}

async function readSystem(choice: ShellChoice, clock: VirtualClock): Promise<Disk> {
  const none = new EditedDisk({}, FULL_ACCESS, () => clock.now)
  const { fs } = new Bash(await shellParts(choice, none, clock, new ProgramFaults()))
  const disk: Disk = {}
  for (const path of (fs as InMemoryFs).getAllPaths()) {
    if (!/^\/(bin|dev|proc|usr)(\/|$)/.test(path)) continue
    const stat = await fs.lstat(path)
    if (stat.isDirectory) disk[path] = { kind: 'directory' }
    else if (stat.isSymbolicLink) disk[path] = { kind: 'link', target: await fs.readlink(path) }
    else disk[path] = { ...entryFor(await fs.readFile(path)), mode: path.startsWith('/dev/') ? 0o666 : 0o755 }
  }
  return disk
}
