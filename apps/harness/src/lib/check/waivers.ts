import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { HarnessError } from '../harness-error.ts'
import { FINDING_KINDS, type Finding, type WaivedFinding } from './finding.ts'

/** What an author has waived, and which of that was used. */
export class Waivers {
  readonly #reasons: ReadonlyMap<string, string>
  readonly #used = new Set<string>()

  /** Throws `world-invalid` for a waiver that names no kind of finding, or gives no reason. */
  constructor({ name, waived }: EnvironmentDefinition) {
    this.#reasons = new Map(Object.entries(waived))
    for (const [finding, reason] of this.#reasons) {
      if (!Object.hasOwn(FINDING_KINDS, kindOf(finding)))
        throw new HarnessError(
          'world-invalid',
          `${name} waives "${finding}", and check has no finding of that name. Its findings are: ${Object.keys(FINDING_KINDS).join(', ')}.`,
        )
      if (typeof reason !== 'string' || reason.trim() === '')
        throw new HarnessError(
          'world-invalid',
          `${name} waives "${finding}" without a reason. Say in a sentence why it is meant.`,
        )
    }
  }

  /** Waivers that no finding has used so far. */
  get unused(): string[] {
    return [...this.#reasons.keys()].filter((name) => !this.#used.has(name))
  }

  /** Takes the findings apart into those that stand and those that are waived, by their own name or by that of their kind. */
  sort(findings: readonly Finding[]): {
    readonly standing: readonly Finding[]
    readonly waived: readonly WaivedFinding[]
  } {
    const standing: Finding[] = []
    const waived: WaivedFinding[] = []
    for (const finding of findings) {
      const by = [finding.name, kindOf(finding.name)].find((name) => this.#reasons.has(name))
      if (by === undefined) standing.push(finding)
      else {
        this.#used.add(by)
        waived.push({ ...finding, reason: this.#reasons.get(by) as string })
      }
    }
    return { standing, waived }
  }
}

function kindOf(name: string): string {
  return name.split(':', 1)[0] as string
}
