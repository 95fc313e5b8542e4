import type { EnvironmentInfo, JsonObject } from '@episodic/protocol'
import { invalidParams, shorten } from '@episodic/protocol/internal'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Host } from '../host/host.ts'
import { namedEnvironment } from './agent-call.ts'
import { howToBegin, titleOf } from './server-info.ts'
import { uriIn } from './state-resource.ts'

/** The most characters of a skill's description. */
const MOST_DESCRIPTION = 1_023

/** A skill never changes while a server runs, and is the same for all of its clients. */
const CACHED = { ttlMs: 300_000, cacheScope: 'public' } as const

/** Answers `skills/list`, `skills/get` and `resources/read` of a skill; `undefined` for any other method. */
export function answerSkills(host: Host, environment: string, method: string, params: JsonObject): object | undefined {
  const { entry, text } = skillOf(namedEnvironment(host, environment))
  const { uri } = entry
  if (method === 'skills/list') return { skills: [entry], ...CACHED }
  if (method !== 'skills/get' && method !== 'resources/read') return undefined
  if (uriIn(params) !== uri) throw invalidParams(`There is no skill of this uri. There is ${uri}.`)
  return method === 'skills/get'
    ? { skill: entry, ...CACHED }
    : { contents: [{ uri, mimeType: 'text/markdown', text }] }
}

/** Returns how an environment is played, as one skill for every seed, seat and address. */
function skillOf(info: EnvironmentInfo) {
  const { name, tools } = info
  const title = titleOf(name)
  const about = info.description.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const frontmatter = { name, description: shorten(`How to play ${title}: ${about}`, MOST_DESCRIPTION) }
  const text = `---
name: ${name}
description: ${JSON.stringify(frontmatter.description)}
---

# ${title}

${info.description}

${begin(info)}

## Tools

${tools.map((tool) => `- \`${tool.name}\`: ${tool.description}`).join('\n')}
`
  const uri = `skill://${name}/SKILL.md`
  const bytes = new TextEncoder().encode(text)
  const file = { uri, digest: `sha256:${bytesToHex(sha256(bytes))}`, size: bytes.length }
  return { text, entry: { uri, frontmatter, resources: [file] } }
}

function begin(info: EnvironmentInfo): string {
  const { handle } = info
  if (handle === undefined) return 'The episode begins with the first call.'
  return `${howToBegin(info, handle)}\n\nWhere there is no tool of that name, one episode is played, and it has begun.`
}
