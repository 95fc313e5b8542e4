import { type Command, defineCommand } from 'just-bash'
import type { VirtualClock } from '../../clock/virtual-clock.ts'
import { absolutePath } from '../../disk/disk.ts'
import type { EditedDisk } from '../../disk/edited-disk.ts'
import { fromByteString, toByteString } from './bytes.ts'
import { Call } from './call.ts'
import { findFolder } from './commands/repository-commands.ts'
import { SUBCOMMANDS } from './commands/subcommands.ts'
import { fatal, GitError } from './git-error.ts'
import { homeOf, type Surroundings } from './repository.ts'
import { type ConfigValue, normalKey, readConfig } from './store/config.ts'

const VERSION = 'git version 2.39.5'

/** Returns the command `git`, over the repositories on a disk. */
export function git(disk: EditedDisk, clock: VirtualClock): Command {
  return defineCommand('git', async (args, { cwd, env, stdin }) => {
    const around = { disk, cwd, variables: new Map(env), given: [], now: Math.floor(clock.now / 1_000) }
    const { stdout, stderr, exitCode } = runGit(args.map(toByteString), around, stdin as unknown as string)
    return { stdout, stderr: fromByteString(stderr), exitCode, stdoutKind: 'bytes' }
  })
}

function runGit(args: readonly string[], around: Surroundings, stdin: string) {
  let given: Call | null = null
  try {
    const { name, rest, surroundings } = parseGlobal(args, around)
    given = new Call(name, rest, surroundings, stdin)
    const exitCode = commandOf(given, 0)
    return { stdout: given.stdout, stderr: given.stderr, exitCode }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const end = error.message === '' || error.message.endsWith('\n') ? '' : '\n'
    return {
      stdout: given?.stdout ?? '',
      stderr: `${given?.stderr ?? ''}${error.message}${end}`,
      exitCode: error.exitCode,
    }
  }
}

/** Names that an alias leads over at most. */
const MOST_ALIASES = 10

function commandOf(call: Call, depth: number): number {
  const { name, args } = call
  if (name === '') {
    call.out(
      `usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>] <command> [<args>]\n\n${help()}`,
    )
    return 1
  }
  if (name === '--version' || name === 'version') {
    call.out(`${VERSION}\n`)
    return 0
  }
  if (name === 'help' || name === '--help') {
    call.out(help())
    return 0
  }
  const subcommand = SUBCOMMANDS.get(name)
  if (subcommand) {
    const exitCode = subcommand.run(call)
    return typeof exitCode === 'number' ? exitCode : 0
  }
  const alias = depth < MOST_ALIASES ? aliasOf(call) : null
  if (alias !== null) {
    const [first = '', ...more] =
      alias.match(/"[^"]*"|'[^']*'|\S+/g)?.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')) ?? []
    return commandOf(call.forOther(first, [...more, ...args]), depth + 1)
  }
  if (NOT_HERE.has(name)) throw fatal(`${name} is not available here`)
  throw new GitError(`git: '${name}' is not a git command. See 'git --help'.`, 1)
}

/** Commands of git that need a network, other programs, or are refused. */
const NOT_HERE = new Set(
  'cherry count-objects diff-files diff-index diff-tree fast-export fast-import pack-refs show-ref verify-pack whatchanged clone fetch pull push am apply archive bisect bundle daemon difftool fsck gc gui instaweb maintenance mergetool notes p4 prune range-diff repack replace rerere send-email sparse-checkout submodule svn worktree format-patch'.split(
    ' ',
  ),
)

function aliasOf(call: Call): string | null {
  const { values } = readConfig(homeOf(call.around), findFolder(call), call.around.given)
  return values.findLast(({ key }) => key === `alias.${call.name}`)?.value ?? null
}

function parseGlobal(args: readonly string[], around: Surroundings) {
  let { cwd } = around
  const given: ConfigValue[] = []
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] as string
    if (arg === '-C') {
      const path = args[++at]
      if (path === undefined) throw new GitError("no directory given for '-C'", 129)
      cwd = absolutePath(cwd, fromByteString(path))
      if (around.disk.at(around.disk.resolve(cwd, 'chdir'))?.kind !== 'directory')
        throw fatal(`cannot change to '${path}': No such file or directory`)
    } else if (arg === '-c') {
      const [, key = '', value = 'true'] = /^([^=]*)(?:=(.*))?$/s.exec(args[++at] ?? '') ?? []
      given.push({ key: normalKey(key), value })
    } else if (arg === '-P' || arg === '-p' || arg === '--no-pager' || arg === '--paginate') continue
    else if (arg === '-v') return { name: 'version', rest: [], surroundings: around }
    else if (arg.startsWith('-') && arg !== '--version' && arg !== '--help')
      throw new GitError(`unknown option: ${arg}\nusage: git [-C <path>] [-c <name>=<value>] <command> [<args>]`, 129)
    else break
  }
  const [name = '', ...rest] = args.slice(at)
  return { name, rest, surroundings: { ...around, cwd, given } }
}

function help(): string {
  const lines = [...SUBCOMMANDS].map(([name, { about }]) => `   ${name.padEnd(13)}${about}\n`)
  return `These are the commands of git that are here:\n\n${lines.join('')}\nThere is no network: clone, fetch, pull and push are not.\n`
}
