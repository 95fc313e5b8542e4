import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Json } from '@episodic/protocol'
import { parse } from 'yaml'
import { readQuoted } from './injected-text.ts'
import { dumpYaml, sortedEntries, type YamlValue } from './yaml-dump.ts'

export interface EnvironmentFile {
  /** The texts that stand in the places for injections where nothing is injected. */
  readonly defaults: Readonly<Record<string, string>>
  /** Returns the environment with these texts in its places. Throws where the original cannot read the result. */
  inject(texts: Readonly<Record<string, string>>): Json
}

export function readEnvironment(folder: string): EnvironmentFile {
  const blank = sorted(readYaml(join(folder, 'environment.yaml')) as YamlValue)
  const vectors = readYaml(join(folder, 'injection_vectors.yaml')) as Record<string, { readonly default: string }>
  // The original writes the environment as YAML, puts the texts into it, and reads that. Only these parts change.
  const places = new Map<string, string>()
  dumpYaml(blank, {
    quoted: true,
    onText(text, written) {
      if (/[{}]/.test(text)) places.set(text, written)
    },
  })
  const defaults = Object.fromEntries(Object.entries(vectors).map(([name, vector]) => [name, vector.default]))
  return {
    defaults,
    inject(texts) {
      const all: Readonly<Record<string, string>> = { ...defaults, ...texts }
      const fill = (value: YamlValue): Json => {
        if (typeof value === 'string') {
          const written = places.get(value)
          return written === undefined ? value : readQuoted(format(written, all))
        }
        if (Array.isArray(value)) return value.map(fill)
        if (typeof value !== 'object' || value === null) return value as Json
        return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fill(part as YamlValue)]))
      }
      return fill(blank)
    },
  }
}

/** Fills in the names in braces, as `str.format` does. */
export function format(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{|\}\}|\{(\w+)\}/g, (whole, name) => (name ? (values[name] ?? whole) : whole.charAt(0)))
}

function readYaml(file: string): unknown {
  const include = {
    tag: '!include',
    resolve: (path: string) => readYaml(join(dirname(file), path)),
  }
  return parse(readFileSync(file, 'utf8'), {
    version: '1.1',
    // Dates are read where they are used: some of them are texts.
    customTags: (tags) => [
      ...tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
      include,
    ],
  })
}

function sorted(value: YamlValue): YamlValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(sortedEntries(value).map(([key, part]) => [key, sorted(part)]))
}
