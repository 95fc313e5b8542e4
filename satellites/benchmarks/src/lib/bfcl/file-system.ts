import { splitlines, splitWords } from '../python/lines.ts'
import { formatFixed } from '../python/round.ts'
import { entriesOf, type PythonValue } from '../python/value.ts'
import { type Api, type ApiAnswer, PythonError, type Sources } from './api.ts'

/**
 * A file system as the original keeps it: objects that point at one another. Copied folders share their files, a moved
 * folder shares its table with the one that it was, and what is in it still has that one as its parent. So the state
 * is a list of nodes, of which the root is the first, and a list of tables, and places in them are the references.
 */
interface FileSystem {
  here: number
  nodes: Node[]
  tables: [name: string, node: number][][]
}

interface Node {
  name: string
  parent: number | null
  /** `null` of a folder. */
  content: string | null
  /** Of a folder. */
  table: number
}

interface Written {
  readonly type: string
  readonly content?: string
  readonly contents?: object
}

type CallArguments = Record<'folder' | 'dir_name' | 'content' | 'pattern' | 'source' | 'destination', string> &
  Record<'file_name' | 'file_name1' | 'file_name2', string> & {
    a?: boolean
    path?: string
    name?: string | null
    mode?: string
    human_readable?: boolean
    lines?: number
  }

type Method = Api<FileSystem, CallArguments>['methods'][string]

export const fileSystem: Api<FileSystem, CallArguments> = {
  load({ root }, sources) {
    const files: FileSystem = { here: 0, nodes: [], tables: [] }
    const [[name, top] = ['/', {}]] = entriesIn(root as object | undefined)
    createNode(files, name, null, null)
    if (top.contents) fill(files, 0, top.contents, sources)
    return files
  },
  compared: (files) => ({ cwd: pathOf(files), tree: [nodeAt(files, 0).name, treeOf(files, 0)] }),
  methods: {
    pwd: (files) => ({ current_working_directory: pathOf(files) }),
    ls(files, { a }) {
      const names = tableOf(files, nodeAt(files, files.here)).map(([name]) => name)
      return { current_directory_content: a ? names : names.filter((name) => !name.startsWith('.')) }
    },
    cd(files, { folder: given }) {
      const folder = given.replace(/\/+$/, '') || '/'
      if (folder !== '/' && folder.includes('/'))
        return error(`cd: ${folder}: Unsupported path. Only one folder level at a time is supported.`)
      if (folder === '..') {
        const { parent } = nodeAt(files, files.here)
        if (parent === null) return error('Current directory is already the root. Cannot go back.')
        files.here = parent
        return {}
      }
      const found = navigate(files, folder)
      if (found === null) return error(`cd: '${folder}': No such file or directory`)
      files.here = found
      return { current_working_directory: nodeAt(files, found).name }
    },
    mkdir: (files, { dir_name }) => create(files, 'mkdir: cannot create directory', dir_name, null),
    touch: (files, { file_name }) => create(files, 'touch: cannot touch', file_name, ''),
    echo(files, { content, file_name: name = null }) {
      if (name === null || name === '') return { terminal_output: content }
      if (isInvalid(name)) return error(`echo: cannot write to '${name}': Invalid character`)
      const node = nodeOf(files, name)
      if (!node) return error(`echo: cannot write to '${name}': No such file`)
      if (node.content === null) throw new PythonError("'Directory' object has no attribute '_write'")
      node.content = content
      return null
    },
    cat(files, { file_name: name }) {
      if (isInvalid(name)) return error(`cat: '${name}': Invalid character`)
      const node = nodeOf(files, name)
      if (!node) return error(`cat: '${name}': No such file or directory`)
      return node.content === null ? error(`cat: '${name}': Is a directory`) : { file_content: node.content }
    },
    find(files, { path = '.', name = null }) {
      const start = navigate(files, path)
      if (start === null) return error(`find: '${path}': No such file or directory`)
      const matches: string[] = []
      const search = (directory: number, base: string, depth: number) => {
        assertDepth(depth)
        for (const [entry, node] of tableOf(files, nodeAt(files, directory))) {
          const place = `${base}/${entry}`
          if (name === null || entry.includes(name)) matches.push(place)
          if (nodeAt(files, node).content === null) search(node, place, depth + 1)
        }
      }
      search(start, path.replace(/\/+$/, ''), 0)
      return { matches }
    },
    wc(files, { file_name: name, mode = 'l' }) {
      const [type, split] = COUNTED.get(mode) ?? []
      if (!type || !split) return error(`wc: invalid mode '${mode}'`)
      return ofContent('wc', files, name, (content) => ({ count: split(content).length, type }))
    },
    // Bytes of UTF-8 have the order of code points, in which Python sorts.
    sort: (files, { file_name }) =>
      ofContent('sort', files, file_name, (content) => ({
        sorted_content: splitlines(content)
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          .join('\n'),
      })),
    grep: (files, { file_name, pattern }) =>
      ofContent('grep', files, file_name, (content) => ({
        matching_lines: splitlines(content).filter((line) => line.includes(pattern)),
      })),
    du(files, { human_readable: human }) {
      const sizeOf = (at: number, depth: number): number => {
        assertDepth(depth)
        const { content } = nodeAt(files, at)
        if (content !== null) return Buffer.byteLength(content)
        return tableOf(files, nodeAt(files, at)).reduce((sum, [, child]) => sum + sizeOf(child, depth + 1), 0)
      }
      let size = sizeOf(files.here, 0)
      if (!human) return { disk_usage: `${size} bytes` }
      const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
      for (; size >= 1024 && units.length > 1; size /= 1024) units.shift()
      return { disk_usage: `${formatFixed(size, 2)} ${units[0]}` }
    },
    tail: (files, { file_name, lines = 10 }) =>
      ofContent('tail', files, file_name, (content) => {
        const all = splitlines(content)
        return { last_lines: all.slice(-Math.min(lines, all.length)).join('\n') }
      }),
    diff(files, { file_name1: one, file_name2: two }) {
      const [before, after] = [nodeOf(files, one)?.content, nodeOf(files, two)?.content]
      if (before == null || after == null) return error(`diff: ${one} or ${two}: No such file or directory`)
      const others = splitlines(after)
      const pairs = splitlines(before).slice(0, others.length)
      const changed = pairs.flatMap((line, at) => (others[at] === line ? [] : [`- ${line}\n+ ${others[at]}`]))
      return { diff_lines: changed.join('\n') }
    },
    mv: transfer('mv', 'move', 'moved'),
    cp: transfer('cp', 'copy', 'copied'),
    rm(files, { file_name: name }) {
      if (!nodeOf(files, name)) return error(`rm: cannot remove '${name}': No such file or directory`)
      return remove(files, name)
    },
    rmdir(files, { dir_name: name }) {
      const node = nodeOf(files, name)
      if (!node) return error(`rmdir: cannot remove '${name}': No such file or directory`)
      if (node.content !== null) return error(`rmdir: cannot remove '${name}': Not a directory`)
      if (files.tables[node.table]?.length) return error(`rmdir: cannot remove '${name}': Directory not empty`)
      return remove(files, name)
    },
  },
}

const COUNTED = new Map<string, [type: string, split: (content: string) => readonly string[]]>([
  ['l', ['lines', splitlines]],
  ['w', ['words', splitWords]],
  ['c', ['characters', (content) => [...content]]],
])

function error(text: string) {
  return { error: text }
}

function create(files: FileSystem, fails: string, name: string, content: string | null) {
  if (isInvalid(name)) return error(`${fails} '${name}': Invalid character`)
  if (nodeOf(files, name)) return error(`${fails} '${name}': File exists`)
  add(files, files.here, name, content)
  return null
}

function ofContent(tool: string, files: FileSystem, name: string, answer: (content: string) => ApiAnswer): ApiAnswer {
  const content = nodeOf(files, name)?.content ?? null
  return content === null ? error(`${tool}: ${name}: No such file or directory`) : answer(content)
}

/** Returns the method that moves or copies into a folder, or to another name. */
function transfer(tool: 'mv' | 'cp', does: string, done: string): Method {
  return (files, { source, destination }) => {
    const failed = (why: string) => error(`${tool}: cannot ${does} '${source}'${why}`)
    const node = nodeOf(files, source)
    if (!node) return failed(': No such file or directory')
    if (destination.includes('/'))
      return error(`${tool}: path not allowed in destination. Provide only a file or directory name.`)
    const into = findPlace(files, files.here, destination)
    if (into !== null && nodeAt(files, into).content !== null) return failed(` to '${destination}': Not a directory`)
    const target = into === null ? destination : `${destination}/${source}`
    if (tool === 'mv') {
      if (into !== null && findPlace(files, into, source) !== null) return failed(` to '${target}': File exists`)
      remove(files, source)
    }
    const [directory, name] = into === null ? [files.here, destination] : [into, source]
    const made = nodeAt(files, add(files, directory, name, node.content))
    // A copied folder has a table of its own, and what it points at is not copied.
    if (tool === 'mv') made.table = node.table
    else if (node.content === null) files.tables[made.table] = structuredClone(tableOf(files, node))
    return { result: `'${source}' ${done} to '${target}'` }
  }
}

function fill(files: FileSystem, at: number, contents: object, sources: Sources): void {
  const used = sources.long<string[]>('FILES_TAIL_USED')
  const entries = entriesIn(contents)
  for (const [name, { type, content, contents: inner = {} }] of entries)
    if (type === 'directory') fill(files, add(files, at, name, null), inner, sources)
    else {
      const extension = used && !used.includes(name) ? sources.long('FILE_CONTENT_EXTENSION') : ''
      add(files, at, name, `${content}${extension}`)
    }
  if (entries.every(([, { type }]) => type !== 'directory'))
    for (const name of sources.long<string[]>('POPULATE_FILE_EXTENSION') ?? []) add(files, at, name, '')
}

function entriesIn(contents: object = {}) {
  return entriesOf(contents) as unknown as readonly [string, Written][]
}

function nodeAt(files: FileSystem, at: number): Node {
  return files.nodes[at] as Node
}

function tableOf(files: FileSystem, { table }: Node) {
  return files.tables[table] as FileSystem['tables'][number]
}

/** Returns the place of what a folder has under a name. A folder that has something called `.` is that itself. */
function findPlace(files: FileSystem, folder: number, name: string): number | null {
  const entry = tableOf(files, nodeAt(files, folder)).find(([other]) => other === name)
  return entry && name === '.' ? folder : (entry?.[1] ?? null)
}

function nodeOf(files: FileSystem, name: string): Node | null {
  const place = findPlace(files, files.here, name)
  return place === null ? null : nodeAt(files, place)
}

function createNode(files: FileSystem, name: string, parent: number | null, content: string | null): number {
  return files.nodes.push({ name, parent, content, table: content === null ? files.tables.push([]) - 1 : -1 }) - 1
}

/** Adds a file, or a folder if there is no content, and returns its place. */
function add(files: FileSystem, parent: number, name: string, content: string | null): number {
  const folder = nodeAt(files, parent)
  const table = tableOf(files, folder)
  const what = content === null ? 'Directory' : 'File'
  if (table.some(([other]) => other === name))
    throw new PythonError(`${what} '${name}' already exists in directory '${folder.name}'.`)
  const place = createNode(files, name, parent, content)
  table.push([name, place])
  return place
}

function remove(files: FileSystem, name: string) {
  const table = tableOf(files, nodeAt(files, files.here))
  const at = table.findIndex(([other]) => other === name)
  table.splice(at, 1)
  return { result: `'${name}' removed` }
}

/** Returns the folder at a path, `null` if there is none. Names go down alone: `..` is a name like others. */
function navigate(files: FileSystem, path: string): number | null {
  if (path === '.') return files.here
  if (path === '/') return 0
  let place = path.startsWith('/') ? 0 : files.here
  for (const name of path.replace(/^\/+|\/+$/g, '').split('/')) {
    const next = name === '.' ? place : findPlace(files, place, name)
    if (next === null || nodeAt(files, next).content !== null) return null
    place = next
  }
  return place
}

function pathOf(files: FileSystem): string {
  const names: string[] = []
  for (let at: number | null = files.here; at !== null; at = nodeAt(files, at).parent)
    names.unshift(nodeAt(files, at).name)
  return `/${names.join('/')}`
}

/** Returns a folder as dicts. Where one is within itself, the original's comparison does not come to an end. */
function treeOf(files: FileSystem, folder: number, within: readonly number[] = []): PythonValue {
  const node = nodeAt(files, folder)
  if (within.includes(node.table)) return { $repr: 'endless' }
  const entries = tableOf(files, node).map(([key, at]): [string, PythonValue] => {
    const { name, content } = nodeAt(files, at)
    return [key, content ?? [name, treeOf(files, at, [...within, node.table])]]
  })
  return { $dict: entries }
}

/** A folder that was copied into itself has no end. */
function assertDepth(depth: number): void {
  if (depth > 900) throw new PythonError('maximum recursion depth exceeded')
}

function isInvalid(name: string): boolean {
  return /[|/\\?%*:"><]/.test(name)
}
