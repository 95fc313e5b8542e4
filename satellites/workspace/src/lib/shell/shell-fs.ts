import type { ByteString, CpOptions, FileContent, FsStat, IFileSystem, MkdirOptions, RmOptions } from 'just-bash'
import { unsafeBytesFromLatin1 } from 'just-bash'
import { decodeBytes, encodeText } from '../bytes/byte-text.ts'
import { absolutePath } from '../disk/disk.ts'
import { DiskError, type EditedDisk, type Node } from '../disk/edited-disk.ts'
import { type Content, sizeOf, toBytes } from '../disk/file-content.ts'
import { MARK } from './marked-redirections.ts'

type ReadFileOptions = Exclude<Parameters<IFileSystem['readFile']>[1], string | undefined>
type WriteFileOptions = Exclude<Parameters<IFileSystem['writeFile']>[2], string | undefined>
type Encoding = Exclude<WriteFileOptions['encoding'], undefined>

const DEVICES = new Set(['/dev/null', '/dev/zero', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/tty'])

export class ShellFs implements IFileSystem {
  readonly #disk: EditedDisk

  constructor(disk: EditedDisk) {
    this.#disk = disk
  }

  async readFile(path: string, options?: ReadFileOptions | Encoding): Promise<string> {
    const encoding = (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
    const content = this.#disk.read(absolute(path))
    if (isUtf8(encoding)) return typeof content === 'string' ? content : decodeBytes(content)
    return Buffer.from(toBytes(content)).toString(encoding)
  }

  async readFileBytes(path: string): Promise<ByteString> {
    return unsafeBytesFromLatin1(Buffer.from(toBytes(this.#disk.read(absolute(path)))).toString('latin1'))
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return toBytes(this.#disk.read(absolute(path)))
  }

  async writeFile(path: string, content: FileContent, options?: WriteFileOptions | Encoding): Promise<void> {
    const at = unmarked(path)
    if (!DEVICES.has(at)) this.#disk.write(absolute(at), decoded(content, options))
  }

  async appendFile(path: string, content: FileContent, options?: WriteFileOptions | Encoding): Promise<void> {
    if (DEVICES.has(unmarked(path))) return
    const at = absolute(unmarked(path))
    const before = this.#disk.at(this.#disk.resolve(at, 'open')) ? this.#disk.read(at) : ''
    this.#disk.write(at, joined(before, decoded(content, options)))
  }

  async exists(given: string): Promise<boolean> {
    const path = unmarked(given)
    if (path !== given && !DEVICES.has(path) && !this.#disk.canWrite(absolute(path))) return true
    try {
      this.#disk.find(absolute(path), 'access')
      return true
    } catch {
      return false
    }
  }

  async stat(given: string): Promise<FsStat> {
    const path = unmarked(given)
    const at = this.#disk.resolve(absolute(path), 'stat')
    if (path !== given && this.#disk.at(at)?.kind === 'file' && !this.#disk.canWrite(at))
      throw new DiskError('EROFS', 'open', path)
    return statOf(at, this.#disk.find(at, 'stat'))
  }

  async lstat(path: string): Promise<FsStat> {
    const at = this.#disk.resolve(absolute(path), 'lstat', false)
    const node = this.#disk.at(at)
    if (!node) throw new DiskError('ENOENT', 'lstat', path)
    return statOf(at, node)
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    this.#disk.makeDirectory(absolute(path), options?.recursive === true)
  }

  async readdir(path: string): Promise<string[]> {
    return this.#disk.list(absolute(path))
  }

  async readdirWithFileTypes(path: string) {
    const directory = this.#disk.resolve(absolute(path), 'scandir')
    return this.#disk.list(directory).map((name) => {
      const kind = this.#disk.at(absolutePath(directory, name))?.kind
      return { name, isFile: kind === 'file', isDirectory: kind === 'directory', isSymbolicLink: kind === 'link' }
    })
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    try {
      this.#disk.remove(absolute(path), options?.recursive === true)
    } catch (error) {
      if (!(options?.force && error instanceof DiskError && error.code === 'ENOENT')) throw error
    }
  }

  async cp(from: string, to: string, options?: CpOptions): Promise<void> {
    this.#disk.copy(absolute(from), absolute(to), options?.recursive === true)
  }

  async mv(from: string, to: string): Promise<void> {
    this.#disk.move(absolute(from), absolute(to))
  }

  resolvePath(base: string, path: string): string {
    return absolutePath(base, path)
  }

  getAllPaths(): string[] {
    return this.#disk.paths()
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#disk.changeMode(absolute(path), mode)
  }

  async symlink(target: string, path: string): Promise<void> {
    this.#disk.link(target, absolute(path))
  }

  /** A disk has no inodes: a hard link is a copy. */
  async link(from: string, to: string): Promise<void> {
    const target = absolute(to)
    if (this.#disk.at(target)) throw new DiskError('EEXIST', 'link', to)
    this.#disk.copy(absolute(from), target, false)
  }

  async readlink(path: string): Promise<string> {
    const node = this.#disk.at(this.#disk.resolve(absolute(path), 'readlink', false))
    if (!node) throw new DiskError('ENOENT', 'readlink', path)
    if (node.kind !== 'link') throw new DiskError('EINVAL', 'readlink', path)
    return node.target
  }

  async realpath(path: string): Promise<string> {
    const resolved = this.#disk.resolve(absolute(path), 'realpath')
    if (!this.#disk.at(resolved)) throw new DiskError('ENOENT', 'realpath', path)
    return resolved
  }

  async utimes(path: string, _: Date, modified: Date): Promise<void> {
    this.#disk.changeTime(absolute(path), modified.getTime())
  }
}

function unmarked(path: string): string {
  return path.endsWith(MARK) ? path.slice(0, -MARK.length) : path
}

function absolute(path: string): string {
  if (path.includes('\0') || !path.isWellFormed())
    throw new DiskError('EINVAL', 'open', path.replaceAll('\0', '?').toWellFormed())
  return absolutePath('/', path)
}

function isUtf8(encoding: Encoding): boolean {
  return encoding === 'utf8' || encoding === 'utf-8'
}

function decoded(content: FileContent, options: WriteFileOptions | Encoding | undefined): Content {
  if (typeof content !== 'string') return content
  const encoding = (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
  if (!isUtf8(encoding)) return Buffer.from(content, encoding)
  return content.isWellFormed() ? content : encodeText(content)
}

function joined(before: Content, added: Content): Content {
  if (typeof before === 'string' && typeof added === 'string') return before + added
  return Buffer.concat([toBytes(before), toBytes(added)])
}

function statOf(path: string, node: Node): FsStat {
  return {
    identity: path,
    isFile: node.kind === 'file',
    isDirectory: node.kind === 'directory',
    isSymbolicLink: node.kind === 'link',
    mode: node.mode,
    size: node.kind === 'file' ? sizeOf(node.content) : node.kind === 'link' ? node.target.length : 0,
    mtime: new Date(node.modified),
  }
}
