import { relative } from 'node:path'
import type { createProject } from './create-project.ts'
import { unpublished } from './package-file.ts'

/** Returns what became of a project's files, and the next commands, for the package manager that runs this program. */
export function nextSteps(folder: string, { scripts, ...files }: ReturnType<typeof createProject>): string {
  const place = relative(process.cwd(), folder)
  const [manager = 'npm'] = /^(npm|pnpm|yarn|bun)\b/.exec(process.env.npm_config_user_agent ?? '') ?? []
  const run = (name: string) => {
    const script = Object.hasOwn(scripts, `${name}:world`) ? `${name}:world` : name
    return manager === 'npm' && script === 'test' ? 'npm test' : `${manager} run ${script}`
  }
  const steps = [...(place === '' ? [] : [`cd ${quoted(place)}`]), `${manager} install`, run('test'), run('play')]
  const said = Object.entries(files)
    .filter(([, paths]) => paths.length > 0)
    .map(([what, paths]) => `${what[0]?.toUpperCase()}${what.slice(1)} ${paths.join(', ')}.\n`)
  return `${said.join('')}\nNext:\n\n${steps.map((step) => `  ${step}\n`).join('')}${unpublished().replace(/^/, '\n')}`
}

function quoted(path: string): string {
  if (/^[\w./\\:-]+$/.test(path)) return path
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
