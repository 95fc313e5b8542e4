import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  bubblewrap,
  type CommandResult,
  createDisk,
  MACHINE_BOUNDS,
  type Machine,
  type MachineCommand,
  runCommand,
} from '@episodic/workspace'
import { readOptions } from '../options.ts'
import type { Report } from '../report.ts'

const USAGE = `Usage: pnpm interop shell [--machine] [--show] [--only <text>] [--json]

Runs the command lines of the tldr pages for text, files and the shell, which nobody here has chosen, with the bash of this
machine, each in a folder of its own, and with the shell of a workspace on a disk with the same files. Compares what they
print and their exit codes. A line that differs either says why (an error message and a status), or is wrong without a word.

  --machine  run them in boxes of bubblewrap instead of the shell of a workspace; one in a hundred may be wrong without a word
  --show     print what differs
  --only     only command lines that contain this text
  --json     print nothing but the line of JSON that ends every run`

/** The share of command lines that may be wrong without a word, in the shell and on a machine. */
const MOST_SILENT = 0.1
const MOST_SILENT_ON_MACHINE = 0.01

/** When files of a disk were changed that does not say it. */
const CHANGED = new Date('2025-01-01T00:00:00Z')

const FILES: Readonly<Record<string, string>> = {
  'poem.txt':
    'Two roads diverged in a yellow wood,\nAnd sorry I could not travel both\nAnd be one traveler, long I stood\n\nThen took the other, as just as fair,\nAnd having perhaps the better claim,\nBecause it was grassy and wanted wear;\n\nI took the road less traveled by,\nAnd that has made all the difference.\n',
  'words.txt': 'one\ntwo\nthree\nabba\nfoo\na.b\ntwo\nzebra\nOne\n',
  'numbers.txt': '5\n3\n9\n1\n12\n7\n3\n',
  'people.csv': 'name,city,age\nAda,London,36\nAlan,Manchester,41\nGrace,New York,85\nLinus,Helsinki,28\n',
  'empty.txt': '',
  'with space.txt': 'space\n',
  'config.json':
    '{"name": "shop", "version": 2, "items": [{"id": "a", "price": 5}, {"id": "b", "price": 12.5}, {"id": "c", "price": 3}]}\n',
  'config.ini': '# settings\n[server]\nhost=localhost\nport=8080\n# more\n[log]\nlevel=debug\n',
  'access.log': Array.from(
    { length: 24 },
    (_, i) =>
      `10.0.0.${i % 4} - - [01/Jan/2025:10:${10 + i}:00] "GET /page/${i % 5} HTTP/1.1" ${i % 7 === 3 ? 500 : 200} ${100 + i * 13}\n`,
  ).join(''),
  'src/add.js': 'import { log } from "./lib/log.js"\n\nexport function add(a, b) {\n  log(a, b)\n  return a + b\n}\n',
  'src/main.js': 'import { add } from "./add.js"\n\nexport function main() {\n  return add(1, 2)\n}\n',
  'src/lib/log.js': 'export function log(...args) {\n  return args.join(" ")\n}\n',
}

/** Compares the shell of a workspace with bash from the command line. */
export async function runShellProgram(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    machine: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  })
  if (!options) return null
  const disk = createDisk(Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`/home/${path}`, text])))
  const { source, commands }: { source: string; commands: string[] } = JSON.parse(
    readFileSync(new URL('./tldr-commands.json', import.meta.url), 'utf8'),
  )
  const chosen = commands.filter((each) => each.includes(options.only))
  const groups: Record<'equal' | 'refused' | 'silent', string[]> = { equal: [], refused: [], silent: [] }
  let unknown = 0
  const machine = bubblewrap()
  const goal = options.machine ? MOST_SILENT_ON_MACHINE : MOST_SILENT
  const run = options.machine
    ? (command: string) => onMachine(machine, disk, command)
    : (command: string) => runCommand(disk, command, { cwd: '/home' })
  for (const command of chosen) {
    const [bash, ours] = [await inBash(command), await run(command)]
    // What this machine lacks can be compared with nothing.
    if (bash.exitCode === 127) unknown += 1
    else {
      const isEqual = bash.stdout === ours.stdout && bash.exitCode === ours.exitCode
      const group = isEqual ? 'equal' : ours.exitCode !== 0 && ours.stderr !== '' ? 'refused' : 'silent'
      groups[group].push(command)
      if (options.show && !options.json && !isEqual)
        console.error(
          `${group} $ ${command}\n  bash ${bash.exitCode} ${JSON.stringify(bash.stdout.slice(0, 300))}\n  ours ${ours.exitCode} ${JSON.stringify(ours.stdout.slice(0, 300))} ${JSON.stringify(ours.stderr.slice(0, 200))}`,
        )
    }
  }
  await machine.close()
  const total = chosen.length - unknown
  const share = (count: number) => Math.round((count / total) * 1_000) / 1_000
  const version = execFileSync('bash', ['--version']).toString().split('\n')[0] ?? ''
  const isMet = share(groups.silent.length) <= goal
  return {
    clients: { [version]: { passed: isMet ? total : 0, failed: isMet ? 0 : groups.silent.length } },
    details: {
      source,
      commands: total,
      equal: share(groups.equal.length),
      refused: share(groups.refused.length),
      silent: share(groups.silent.length),
      goal,
      differing: groups.silent,
    },
  }
}

function writeFiles(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    utimesSync(join(folder, path), CHANGED, CHANGED)
  }
}

/** Runs a command line in a box, which has the files in `/home`. */
async function onMachine(machine: Machine, disk: MachineCommand['disk'], command: string): Promise<CommandResult> {
  const seen = { disk, folders: ['/home'], hidden: [], readOnly: [], cwd: '/home', variables: { LC_ALL: 'C.UTF-8' } }
  const use = { session: command, argv: ['bash', '-c', command], stdin: Buffer.alloc(0), network: false }
  const { stdout, stderr, exitCode, ended } = await machine.run(
    { ...seen, ...use, bounds: MACHINE_BOUNDS },
    new AbortController().signal,
  )
  return { stdout: Buffer.from(stdout).toString(), stderr: ended ?? Buffer.from(stderr).toString(), exitCode }
}

/** Runs a command line with the machine's bash, in a folder of its own. */
async function inBash(command: string): Promise<Omit<CommandResult, 'stderr'>> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-shell-'))
  try {
    writeFiles(folder)
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/root', TZ: 'UTC' }
    const child = spawn('timeout', ['10', 'bash', '-c', command], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
    return { stdout: Buffer.concat(chunks).toString().replaceAll(folder, '/home'), exitCode }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
