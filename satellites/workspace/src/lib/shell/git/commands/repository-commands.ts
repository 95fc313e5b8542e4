import { absolutePath } from '../../../disk/disk.ts'
import { fromByteString, toByteString } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { findRef, parseRevision, peel } from '../history/revisions.ts'
import { ancestorsOf } from '../history/walk.ts'
import { parseOptions } from '../options.ts'
import { homeOf } from '../repository.ts'
import { normalKey, parseConfig, readConfig, withConfig } from '../store/config.ts'
import { Folder } from '../store/folder.ts'
import { printRefLog, REF_LOG_OPTIONS } from './ref-log.ts'

export function init(call: Call): void {
  const options = parseOptions(call.args, 'q|quiet b|initial-branch= bare template= shared=? object-format=')
  if (options.has('bare')) throw fatal('bare repositories are not available here')
  const { around } = call
  const top = absolutePath(around.cwd, fromByteString(options.operands[0] ?? '.'))
  const folder = new Folder(around.disk, absolutePath(top, '.git'))
  const isThere = folder.isFile('HEAD')
  if (!isThere) {
    const config = readConfig(homeOf(around), null, around.given)
    const branch = options.value('initial-branch') ?? config.get('init.defaultbranch') ?? 'master'
    for (const path of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) folder.makeDirectory(path)
    folder.write('HEAD', `ref: refs/heads/${branch}\n`)
    folder.write(
      'config',
      '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
    )
    folder.write('description', "Unnamed repository; edit this file 'description' to name the repository.\n")
    folder.write(
      'info/exclude',
      "# git ls-files --others --exclude-from=.git/info/exclude\n# Lines that start with '#' are comments.\n# For a project mostly in C, the following would be a good set of\n# exclude patterns (uncomment them if you want to use them):\n# *.[oa]\n# *~\n",
    )
  }
  if (!options.has('quiet'))
    call.out(
      `${isThere ? 'Reinitialized existing' : 'Initialized empty'} Git repository in ${toByteString(folder.path)}/\n`,
    )
}

export function config(call: Call): number {
  const options = parseOptions(
    call.args,
    'global local system get get-all get-regexp unset unset-all l|list add replace-all bool int type= default= show-origin name-only z e|edit f|file= worktree path',
  )
  if (options.has('edit')) throw fatal('editors are not available here')
  const { around } = call
  const home = homeOf(around)
  const isGlobal = options.has('global')
  const only = isGlobal
    ? parseConfig(home.read('.gitconfig') ?? '')
    : options.has('local')
      ? parseConfig(call.repo.folder.read('config') ?? '')
      : options.has('system')
        ? []
        : null
  const values = only ?? readConfig(home, findFolder(call), around.given).values
  const [key, value] = options.operands
  if (options.has('list')) {
    for (const each of values) call.out(options.has('name-only') ? `${each.key}\n` : `${each.key}=${each.value}\n`)
    return 0
  }
  if (options.has('get-regexp')) {
    const found = values.filter((each) => new RegExp(key ?? '').test(each.key))
    for (const each of found) call.out(`${each.key} ${each.value}\n`)
    return found.length > 0 ? 0 : 1
  }
  if (key === undefined) throw new GitError('usage: git config [<options>]', 129)
  if (!key.includes('.'))
    throw new GitError(
      `error: key does not contain a section: ${key}`,
      options.has('get') || value === undefined ? 1 : 2,
    )
  if (!/^[A-Za-z][\w-]*$/.test(key.slice(key.lastIndexOf('.') + 1))) throw new GitError(`error: invalid key: ${key}`, 1)
  if (options.has('unset') || options.has('unset-all')) {
    if (!values.some((each) => each.key === normalKey(key))) return 5
    write(call, isGlobal, key, null)
    return 0
  }
  if (value !== undefined && !options.has('get') && !options.has('get-all')) {
    write(call, isGlobal, key, value)
    return 0
  }
  const found = values.filter((each) => each.key === normalKey(key))
  if (found.length === 0) {
    const fallback = options.value('default')
    if (fallback === undefined) return 1
    call.out(`${fallback}\n`)
    return 0
  }
  const asBool = (text: string) =>
    options.has('bool') || options.value('type') === 'bool' ? String(/^(true|yes|on|1)$/i.test(text)) : text
  for (const each of options.has('get-all') ? found : found.slice(-1)) call.out(`${asBool(each.value)}\n`)
  return 0
}

/** Returns the folder of the repository that a command runs in; `null` outside of one. */
export function findFolder(call: Call): Folder | null {
  try {
    return call.repo.folder
  } catch {
    return null
  }
}

function write(call: Call, isGlobal: boolean, key: string, value: string | null): void {
  if (!isGlobal) {
    if (!findFolder(call)) throw fatal('not in a git directory')
    call.repo.configure(key, value)
    return
  }
  const home = homeOf(call.around)
  home.write('.gitconfig', withConfig(home.read('.gitconfig') ?? '', key, value))
}

export function remote(call: Call): number {
  const options = parseOptions(call.args, 'v|verbose f t= m=')
  const { repo } = call
  const [action, name, address] = options.operands
  const all = repo.config.values.flatMap(({ key, value }) => {
    const of = /^remote\.(.*)\.url$/.exec(key)?.[1]
    return of === undefined ? [] : [[of, value] as const]
  })
  if (action === undefined || action === 'show') {
    for (const [of, value] of all.sort())
      call.out(options.has('verbose') ? `${of}\t${value} (fetch)\n${of}\t${value} (push)\n` : `${of}\n`)
    return 0
  }
  const known = all.find(([of]) => of === name)
  if (action === 'add' && name !== undefined && address !== undefined) {
    if (known) throw new GitError(`error: remote ${name} already exists.`, 3)
    repo.configure(`remote.${name}.url`, address)
    repo.configure(`remote.${name}.fetch`, `+refs/heads/*:refs/remotes/${name}/*`)
    return 0
  }
  if (!known) throw new GitError(`error: No such remote '${name}'`, 2)
  if (action === 'get-url') call.out(`${known[1]}\n`)
  else if (action === 'set-url' && address !== undefined) repo.configure(`remote.${name}.url`, address)
  else if (action === 'remove' || action === 'rm')
    for (const { key } of repo.config.values)
      if (key.startsWith(`remote.${name}.`)) repo.configure(key, null)
      else continue
  else throw fatal(`remote ${action} is not available here`)
  return 0
}

export function reflog(call: Call): void {
  const options = parseOptions(call.args, `${REF_LOG_OPTIONS} all`)
  const { repo } = call
  const [first, second] = options.operands
  if (first === 'expire' || first === 'delete') throw fatal(`reflog ${first} is not available here`)
  const name = first === 'show' ? (second ?? 'HEAD') : (first ?? 'HEAD')
  const ref = name === 'HEAD' ? 'HEAD' : findRef(repo, name)
  if (ref === null) throw fatal(`ambiguous argument '${name}': unknown revision or path not in the working tree.`)
  printRefLog(call, options, ref, name, 'oneline')
}

/** Names a commit by the tag that is nearest before it. */
export function nameByTag(call: Call): void {
  const options = parseOptions(call.args, 'tags always long abbrev= all exact-match dirty=? match= first-parent')
  const { repo } = call
  const id = peel(repo, parseRevision(repo, options.operands[0] ?? 'HEAD'), 'commit') as string
  const tags = new Map<string, string>()
  for (const { name, id: at } of repo.refs.list('refs/tags/')) {
    const isAnnotated = repo.objects.read(at).type === 'tag'
    const commit = peel(repo, at, 'commit')
    if (commit !== null && (isAnnotated || options.has('tags'))) tags.set(commit, name.slice('refs/tags/'.length))
  }
  const length = Number(options.value('abbrev') ?? 7)
  const all = ancestorsOf(repo, [id])
  const near = [...tags]
    .filter(([commit]) => all.has(commit))
    .map(([commit, name]) => ({
      name,
      count: all.size - ancestorsOf(repo, [commit]).size,
      time: repo.commit(commit).committer.time,
    }))
    .sort((one, other) => one.count - other.count || other.time - one.time)[0]
  if (!near || (options.has('exact-match') && near.count > 0)) {
    if (options.has('always')) {
      call.out(`${repo.objects.shorten(id, Math.max(4, length))}\n`)
      return
    }
    if (options.has('exact-match')) throw fatal(`no tag exactly matches '${id}'`)
    if (repo.refs.list('refs/tags/').length > 0)
      throw fatal(`No annotated tags can describe '${id}'.\nHowever, there were unannotated tags: try --tags.`)
    throw fatal('No names found, cannot describe anything.')
  }
  const isShort = (near.count === 0 && !options.has('long')) || length === 0
  call.out(isShort ? `${near.name}\n` : `${near.name}-${near.count}-g${repo.objects.shorten(id, length)}\n`)
}
