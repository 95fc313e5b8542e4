import { absolutePath, directoryOf } from '../../disk/disk.ts'
import type { EditedDisk } from '../../disk/edited-disk.ts'
import { fromByteString, toByteString } from './bytes.ts'
import { fatal } from './git-error.ts'
import { type Commit, formatSignature, readCommit, type Signature, writeCommit } from './store/commit.ts'
import { type Config, type ConfigValue, readConfig, withConfig } from './store/config.ts'
import { parseDate } from './store/dates.ts'
import { Folder } from './store/folder.ts'
import { Index } from './store/index-file.ts'
import { Objects } from './store/objects.ts'
import { Refs } from './store/refs.ts'
import { IgnoredFiles } from './worktree/ignored-files.ts'
import { PathFilter } from './worktree/patterns.ts'

/** Where and as whom a command of git runs. */
export interface Surroundings {
  readonly disk: EditedDisk
  /** The absolute directory, as a text of the disk. */
  readonly cwd: string
  readonly variables: ReadonlyMap<string, string>
  /** Values that the command line gives with `-c`. */
  readonly given: readonly ConfigValue[]
  /** Seconds since 1970. */
  readonly now: number
}

/** A repository with its working tree. */
export class Repository {
  readonly around: Surroundings
  /** The working tree. */
  readonly tree: Folder
  /** The folder `.git`. */
  readonly folder: Folder
  readonly objects: Objects
  readonly refs: Refs
  /** Where the command runs, relative to the top: empty, or with a slash at its end. */
  readonly prefix: string
  #index: Index | null = null
  #config: Config | null = null

  constructor(around: Surroundings, top: string) {
    this.around = around
    this.tree = new Folder(around.disk, top)
    this.folder = new Folder(around.disk, absolutePath(top, '.git'))
    this.objects = new Objects(this.folder)
    this.refs = new Refs(this.folder, () => formatSignature(this.signature('COMMITTER')))
    const below = around.cwd === top ? '' : around.cwd.slice(top === '/' ? 1 : top.length + 1)
    this.prefix = below === '' ? '' : `${toByteString(below)}/`
  }

  get index(): Index {
    this.#index ??= new Index(this.folder)
    return this.#index
  }

  get config(): Config {
    this.#config ??= readConfig(homeOf(this.around), this.folder, this.around.given)
    return this.#config
  }

  /** Sets a value in the configuration of the repository. */
  configure(key: string, value: string | null): void {
    this.folder.write('config', withConfig(this.folder.read('config') ?? '', key, value))
    this.#config = null
  }

  ignoredFiles(): IgnoredFiles {
    return new IgnoredFiles(this.tree, this.folder.read('info/exclude') ?? '')
  }

  /** Returns who makes something now: an author or a committer. */
  signature(role: 'AUTHOR' | 'COMMITTER'): Signature {
    const given = (name: string) => {
      const value = this.around.variables.get(`GIT_${role}_${name}`)
      return value === undefined ? null : toByteString(value)
    }
    const date = given('DATE')
    const when = date === null ? { time: this.around.now, zone: '+0000' } : parseDate(date)
    if (!when) throw fatal(`invalid date format: ${date}`)
    return {
      name: given('NAME') ?? this.config.get('user.name') ?? 'root',
      email: given('EMAIL') ?? this.config.get('user.email') ?? 'root@localhost',
      ...when,
    }
  }

  /** Returns the path of a file relative to the top, of one that is given relative to where the command runs. */
  pathOf(given: string): string {
    const { path } = this.tree
    const absolute = absolutePath(this.around.cwd, fromByteString(given))
    if (absolute === path) return ''
    if (!absolute.startsWith(path === '/' ? '/' : `${path}/`))
      throw fatal(`${given}: '${given}' is outside repository at '${path}'`)
    return toByteString(absolute.slice(path === '/' ? 1 : path.length + 1))
  }

  filterOf(paths: readonly string[]): PathFilter {
    return new PathFilter(paths.map((given) => ({ given, path: this.pathOf(given) })))
  }

  /** Returns how a path is said from where the command runs. */
  relative(path: string): string {
    if (this.prefix === '') return path
    const [from, to] = [this.prefix.slice(0, -1).split('/'), path.split('/')]
    let same = 0
    while (same < from.length && same < to.length && from[same] === to[same]) same += 1
    const said = '../'.repeat(from.length - same) + to.slice(same).join('/')
    return said === '' ? './' : said
  }

  /** Returns the commit that `HEAD` has; `null` before the first. */
  get headId(): string | null {
    return this.refs.find('HEAD')
  }

  commit(id: string): Commit {
    return readCommit(this.objects, id)
  }

  /** Makes a commit of now; its author is who makes it, unless another is given. */
  makeCommit({
    author = this.signature('AUTHOR'),
    ...rest
  }: Pick<Commit, 'tree' | 'parents' | 'message'> & Partial<Pick<Commit, 'author'>>): Commit {
    const made = { ...rest, author, committer: this.signature('COMMITTER') }
    return { ...made, id: writeCommit(this.objects, made) }
  }

  /** Returns the tree of a commit; `null` of none. */
  treeOf(commit: string | null): string | null {
    return commit === null ? null : this.commit(commit).tree
  }

  /** Returns the branch that is checked out; `null` if none is. */
  get branch(): string | null {
    const { head } = this.refs
    return head?.startsWith('refs/heads/') ? head.slice('refs/heads/'.length) : null
  }

  shorten(id: string): string {
    return this.objects.shorten(id)
  }
}

export function homeOf({ disk, variables }: Surroundings): Folder {
  return new Folder(disk, variables.get('HOME') ?? '/root')
}

/** Finds the repository that a directory is in. */
export function findRepository(around: Surroundings): Repository | null {
  for (let directory = around.cwd; ; directory = directoryOf(directory)) {
    const folder = new Folder(around.disk, absolutePath(directory, '.git'))
    if (folder.isFile('HEAD')) return new Repository(around, directory)
    if (directory === '/') return null
  }
}
