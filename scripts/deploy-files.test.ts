import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { validate as validateDockerfile } from 'dockerfile-utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { main } from '../apps/harness/src/lib/commands/main.ts'
import { root } from './workspace.ts'

const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')
const dockerfile = read('Dockerfile')
const compose = parse(read('compose.yaml'), { merge: true }) as ComposeFile
const documents = parseAllDocuments(read('kubernetes.yaml'))
const objects = documents.map((document) => document.toJS() as KubernetesObject)

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
}
interface ComposeService {
  readonly image: string
  readonly command: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}
interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } }
}
interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string }[]
}

/** The commands of Episodic in the files, with the variables that they get. */
interface Use {
  readonly place: string
  readonly text: string
  readonly variables: readonly string[]
}
const uses: readonly Use[] = [
  ...Object.entries(compose.services)
    .filter(([, { image }]) => !image.startsWith('redis'))
    .map(([name, { entrypoint = ['episodic'], command, environment }]) => ({
      place: `compose.yaml: ${name}`,
      text: [...entrypoint, ...command].join(' '),
      variables: Object.keys(environment),
    })),
  ...objects
    .flatMap(({ spec }) => spec.template?.spec.containers ?? [])
    .filter(({ image }) => !image.startsWith('redis'))
    .map(({ command = ['episodic'], args, env = [] }) => ({
      place: `kubernetes.yaml: ${args[0]}`,
      text: [...command, ...args].join(' '),
      variables: env.map(({ name }) => name),
    })),
]

/** Returns the command of Episodic in a line of a shell, and the options that follow it. */
function commandOf(text: string): { readonly name: string; readonly options: readonly string[] } {
  const [, name = '', rest = ''] = /\bepisodic ((?:queue )?\w+)(.*)$/s.exec(text) ?? []
  return { name, options: [...rest.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([option]) => option) }
}

/** Returns the help of a command. */
async function helpOf(name: string): Promise<string> {
  const parts: string[] = []
  const stream = { write: (part: string) => void parts.push(part) } as unknown as NodeJS.WriteStream
  await main([...name.split(' '), '--help'], { out: stream, err: stream })
  return parts.join('')
}

const COMMANDS = ['run', 'queue work', 'view']
const help = new Map<string, string>()
beforeAll(async () => {
  for (const name of COMMANDS) help.set(name, await helpOf(name))
})

describe('deploy/Dockerfile', () => {
  it('is valid, runs as a user that is not root, and has a health check', () => {
    expect(validateDockerfile(dockerfile)).toEqual([])
    expect(validateDockerfile(dockerfile.replace('USER 1000', 'USR 1000'))).not.toEqual([])
    expect(dockerfile).toMatch(/^USER 1000$/m)
    expect(dockerfile).toMatch(/^HEALTHCHECK /m)
  })

  it('installs the versions that were tested', () => {
    const { catalog } = parse(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))
    const { version } = JSON.parse(readFileSync(join(root, 'apps/episodic/package.json'), 'utf8'))
    const [, own, others] = /^ARG EPISODIC="(.*)"$[\s\S]*\$\{EPISODIC\} (.*)$/m.exec(dockerfile) ?? []
    expect(own).toBe(`episodic@${version} @episodic/trainer-endpoints@${version}`)
    for (const named of others?.split(' ') ?? [])
      expect(named).toBe(`${named.split('@')[0]}@${catalog[named.split('@')[0] ?? '']}`)
  })
})

describe('deploy/compose.yaml', () => {
  const schema = JSON.parse(readFileSync(join(root, 'scripts/schemas/compose-spec.json'), 'utf8'))
  // The schema names its own version by an address that validators do not know.
  const check = new Ajv({ strict: false, validateFormats: false }).compile({ ...schema, $schema: undefined })

  it('follows the schema of the Compose Specification', () => {
    expect([check(compose), check.errors]).toEqual([true, null])
    const { worker, ...others } = compose.services
    expect(check({ ...compose, services: { ...others, worker: { ...worker, restarts: 'always' } } })).toBe(false)
  })

  it('is not the only one that does: so does that of a task for Harbor', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'episodic-harbor-'))
    try {
      const stream = { write: () => true } as unknown as NodeJS.WriteStream
      const exported = ['export', 'frozen-lake', '--format', 'harbor', '--tasks', '1', '--out', folder]
      expect(await main(exported, { out: stream, err: stream })).toBe(0)
      const [task = ''] = readdirSync(folder)
      const file = parse(readFileSync(join(folder, task, 'environment/docker-compose.yaml'), 'utf8')) as ComposeFile
      expect([check(file), check.errors]).toEqual([true, null])
      // In the image the program is the entry point, and a hook finds it by its name.
      expect(file.services.world?.command.slice(0, 3)).toEqual(['serve', 'frozen-lake', '--task'])
      expect(dockerfile).toMatch(/^ENV .*PATH=\/app\/node_modules\/\.bin:/m)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('deploy/kubernetes.yaml', () => {
  it('has only objects that follow the schemas of Kubernetes', async () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([])
    for (const object of objects) {
      const { apiVersion, kind } = object
      const { [kind]: Model } = await import(/* @vite-ignore */ `kubernetes-models/${apiVersion}/${kind}`)
      expect(() => new Model(object).validate(), `${kind}`).not.toThrow()
      expect(() => new Model({ ...object, spec: [] }).validate(), `${kind} without a spec`).toThrow()
    }
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Job', 'Deployment', 'NetworkPolicy', 'HorizontalPodAutoscaler']),
    )
  })
})

describe('the commands in deploy/', () => {
  it('are those of this version, with options that it has', () => {
    expect(uses.map(({ place }) => place)).toEqual([
      'compose.yaml: coordinator',
      'compose.yaml: worker',
      'compose.yaml: viewer',
      expect.stringContaining('kubernetes.yaml: exec'),
      'kubernetes.yaml: queue',
    ])
    for (const { place, text } of uses) {
      const { name, options } = commandOf(text)
      expect(COMMANDS, place).toContain(name)
      const described = help.get(name) as string
      for (const option of options)
        expect(described, `${place}: episodic ${name} ${option}`).toMatch(new RegExp(`^  ${option}\\b`, 'm'))
    }
  })

  it('get variables that they read', () => {
    const read = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'EPISODIC_QUEUE_PASSWORD', 'EPISODIC_QUEUE_SECRET']
    for (const { place, text, variables } of uses)
      for (const variable of variables) {
        // The variables that a shell puts into the command, and that of the health check, are the files' own.
        const isOwn = text.includes(variable) || variable === 'HEALTH_URL'
        expect(isOwn || read.includes(variable), `${place}: ${variable}`).toBe(true)
      }
    expect(dockerfile).toContain('process.env.HEALTH_URL')
    for (const variable of ['EPISODIC_QUEUE_PASSWORD', 'EPISODIC_QUEUE_SECRET'])
      expect(help.get('queue work')).toContain(variable)
  })
})
