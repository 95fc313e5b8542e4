import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createDisk, type Disk, runCommand } from '@episodic/workspace'
import { readOptions } from '../options.ts'
import type { Report } from '../report.ts'

const USAGE = `Usage: pnpm interop shell [--show] [--only <text>] [--json]

Runs some 500 ordinary command lines with the bash of this machine, each in a folder of its own, and with the shell of a
workspace on a disk with the same files, and compares what they print and their exit codes.

  --show  print what differs
  --only  only command lines that contain this text
  --json  print nothing but the line of JSON that ends every run`

/** The share of command lines that have to do the same. */
const GOAL = 0.95

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

interface Done {
  readonly stdout: string
  readonly exitCode: number
}

/** Compares the shell of a workspace with bash from the command line. */
export async function runShellProgram(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    show: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  })
  if (!options) return null
  const disk = createDisk(Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`/home/${path}`, text])))
  const lines: readonly string[] = JSON.parse(readFileSync(new URL('./commands.json', import.meta.url), 'utf8'))
  const chosen = lines.filter((each) => each.includes(options.only))
  const differing = await compare(chosen, disk, options.show && !options.json)
  const total = chosen.length
  const equal = total - differing.length
  const version = execFileSync('bash', ['--version']).toString().split('\n')[0] ?? ''
  const share = Math.round((equal / total) * 1_000) / 1_000
  return {
    clients: { [version]: { passed: share >= GOAL ? total : equal, failed: share >= GOAL ? 0 : differing.length } },
    details: { commands: total, equal, share, goal: GOAL, differing },
  }
}

/** Compares command lines with those of the machine's bash; returns those that differ. */
async function compare(commands: readonly string[], disk: Disk, show: boolean): Promise<string[]> {
  const differing: string[] = []
  for (const command of commands) {
    const [bash, ours] = [await inBash(command), await runCommand(disk, command, { cwd: '/home' })]
    if (bash.stdout === ours.stdout && bash.exitCode === ours.exitCode) continue
    differing.push(command)
    if (show)
      console.error(
        `$ ${command}\n  bash ${bash.exitCode} ${JSON.stringify(bash.stdout.slice(0, 300))}\n  ours ${ours.exitCode} ${JSON.stringify(ours.stdout.slice(0, 300))} ${JSON.stringify(ours.stderr.slice(0, 200))}`,
      )
  }
  return differing
}

function writeFiles(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Runs a command line with the machine's bash, in a folder of its own. */
async function inBash(command: string): Promise<Done> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-shell-'))
  try {
    writeFiles(folder)
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/root', TZ: 'UTC' }
    const child = spawn('bash', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
    return { stdout: Buffer.concat(chunks).toString(), exitCode }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
