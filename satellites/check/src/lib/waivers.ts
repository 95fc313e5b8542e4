import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { HarnessError } from '@episodic/run/base/harness-error'
import { FINDING_KINDS, type Finding, type WaivedFinding } from './finding.ts'

export class Waivers {
  readonly #reasons: ReadonlyMap<string, string>
  readonly #used = new Set<string>()

  /** Throws `world-invalid` if a waiver names no kind of finding or has no reason. */
  constructor({ name, waived }: Pick<EnvironmentDefinition, 'name' | 'waived'>) {
    this.#reasons = new Map(Object.entries(waived))
    for (const [finding, reason] of this.#reasons) {
      if (!Object.hasOwn(FINDING_KINDS, kindOf(finding)))
        throw new HarnessError(
          'world-invalid',
          `${name} waives "${finding}", but no finding has that name. The findings are: ${Object.keys(FINDING_KINDS).join(', ')}.`,
        )
      if (typeof reason !== 'string' || reason.trim() === '')
        throw new HarnessError(
          'world-invalid',
          `${name} waives "${finding}" without a reason. Explain in a sentence why it is intended.`,
        )
    }
  }

  get unused(): string[] {
    return [...this.#reasons.keys()].filter((name) => !this.#used.has(name))
  }

  sort(findings: readonly Finding[]): {
    readonly remaining: readonly Finding[]
    readonly waived: readonly WaivedFinding[]
  } {
    const remaining: Finding[] = []
    const waived: WaivedFinding[] = []
    for (const finding of findings) {
      const by = [finding.name, kindOf(finding.name)].find((name) => this.#reasons.has(name))
      if (by === undefined) remaining.push(finding)
      else {
        this.#used.add(by)
        waived.push({ ...finding, reason: this.#reasons.get(by) as string })
      }
    }
    return { remaining, waived }
  }
}

export function kindOf(name: string): string {
  return name.split(':', 1)[0] as string
}
