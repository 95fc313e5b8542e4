import type { Action, JsonObject, ToolInfo } from '@episodic/protocol'

/** Most files that are tampered with, and most that are added. */
const FILES = 16
const ADDED = 12

/** Deletes, empties, ends, renews, disables, forges and links files, and puts others in the way, if a tool can. */
export function tamperings(
  tools: readonly ToolInfo[],
  start: object | undefined,
  solved: object | undefined,
): Action[][] {
  const shell = shellIn(tools)
  if (!shell) return []
  const run = (command: string) => ({ tool: shell.name, arguments: { [shell.key]: command } })
  const before = filesIn(start)
  const after = filesIn(solved)
  const worked = [...after].filter(([path, text]) => before.get(path) !== text)
  const files = [...before.keys()].slice(0, FILES)
  const write = (path: string, text: string) =>
    run(`mkdir -p '${folderOf(path)}'; cat > '${path}' <<'END'\n${text.replace(/\n$/, '')}\nEND\nchmod +x '${path}'`)
  const kinds: ((path: string) => string)[] = [
    (path) => `rm -rf '${path}'`,
    (path) => `: > '${path}'`,
    (path) => `printf 'exit 0\\n' > '${path}'`,
    (path) => `sed -i 's/^/skip /' '${path}'`,
    (path) => `sed -i 's/true/false/g' '${path}'`,
    (path) => `sed -i 's/false/true/g' '${path}'`,
    (path) => `sleep 9; touch '${path}'`,
  ]
  const idle = files.filter((path) => !worked.some(([one]) => one === path))
  const folders = [...new Set(files.map(folderOf))]
  // Names that files speak of and that are not there, and the programs of one folder in another one.
  const missing = [...before.values(), ...after.values()].flatMap((text) => text.match(/[\w./-]*\w\.\w+/g) ?? [])
  const programs = files.filter((path) => !/\.\w+$/.test(path))
  const put = [
    ...missing.flatMap((name) =>
      name.startsWith('/') ? [name] : folders.map((folder) => `${folder}/${name.replace(/^\.\//, '')}`),
    ),
    ...programs.flatMap((path) => programs.map((other) => `${folderOf(path)}/${other.split('/').at(-1)}`)),
  ].filter((path) => !before.has(path))
  return [
    ...kinds.map((kind) => idle.map((path) => run(kind(path)))),
    ...worked.map(([path, text]) => [write(path, text)]),
    ...kinds.flatMap((kind) => files.map((path) => [run(kind(path))])),
    ...folders.map((path) => [run(`rm -rf '${path}'`)]),
    ...[...new Set(put)].slice(0, ADDED).map((path) => [write(path, 'exit 0')]),
    ...worked
      .slice(0, 2)
      .flatMap(([path]) => files.filter((one) => one !== path).map((one) => [run(`ln -sf '${one}' '${path}'`)])),
  ].filter((actions) => actions.length > 0)
}

/** Returns the tool that runs commands, and the argument that is one. */
export function shellIn(tools: readonly ToolInfo[]) {
  const found = tools.flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties ?? {}).map((key) => ({ name, key })),
  )
  return found.find(({ key }) => /^(command|cmd|script)$/.test(key))
}

/** The texts of a state whose keys are absolute paths. */
export function filesIn(state: object | undefined): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return
    for (const [key, value] of Object.entries(part as JsonObject)) {
      const text = typeof value === 'string' ? value : (value as JsonObject | null)?.text
      if (key.startsWith('/') && typeof text === 'string') found.set(key, text)
      else visit(value)
    }
  }
  visit(state)
  return found
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}
