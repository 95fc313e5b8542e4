import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { EpisodeEnd } from '@episodic/protocol'
import type { Finding } from '../finding.ts'
import type { RehearsedEpisode } from '../rehearsed-episode.ts'

export class Endings {
  readonly #environment: EnvironmentDefinition
  #cut = 0
  #hasOther = false
  #isIntended = false

  constructor(environment: EnvironmentDefinition) {
    this.#environment = environment
  }

  add({ rehearsal, fault }: RehearsedEpisode): void {
    const { end } = rehearsal
    if (fault) return
    if (end?.kind !== 'truncated') {
      this.#hasOther = true
      return
    }
    this.#cut += 1
    const succeeds = (hypothetical: EpisodeEnd) =>
      this.#environment.seats.some((seat) => {
        try {
          return rehearsal.evaluate(hypothetical, seat).success === true
        } catch {
          return false
        }
      })
    // A success that depends on the state alone does not say that the limit is the goal.
    this.#isIntended ||= succeeds(end) && !succeeds({ kind: 'terminated', reason: 'ended' })
  }

  /**
   * A warning if a limit cut every episode off. None if `success` counts an episode for having reached the limit, and
   * none if the environment takes events, which may end it from outside.
   *
   * @param hasSolver - whether some of the episodes were played by a solver.
   */
  warnings(again: string, { hasSolver }: { readonly hasSolver: boolean }): Finding[] {
    const takesEvents = Object.keys(this.#environment.events).length > 0
    if (this.#cut === 0 || this.#hasOther || this.#isIntended || takesEvents) return []
    const players = hasSolver ? 'the solver or random play' : 'random play'
    return [
      {
        name: 'never-ended',
        what: `The rules of ${this.#environment.name} ended none of ${this.#cut} episodes of ${players}: the step limit cut all of them off.`,
        again,
        advice: `Call \`end('…')\` in a tool when the task is done or lost${hasSolver ? '' : ', and export a solver that gets there'}. If it is endless on purpose, declare \`limits.steps\` and count reaching it as success (\`end.reason === 'step-limit'\`), or waive this finding.`,
      },
    ]
  }
}
