/** Two texts that should have been equal, cut to what surrounds the first byte that is not. */
export interface Difference {
  /** Counts UTF-16 code units from 0. */
  readonly at: number
  readonly first: string
  readonly second: string
}

/** Every kind of finding, with what it says of a world. */
export const FINDING_KINDS = {
  'world-failed': 'the world threw where it is set up, so that a check could not be made',
  'policy-failed': 'a policy of the world threw, or gave what is no action',
  'rules-failed': 'the rules threw, or did what strict play forbids',
  'rejection-unhandled': 'a promise was rejected that nothing waits for',
  'answer-differs': 'an answer depends on private state',
  'state-differs': 'the public state depends on private state',
  'endpoint-differs': 'what an agent reads at an endpoint depends on private state',
  'start-tells': 'the public state of the start decides a private value',
  'start-narrows': 'a private value decides part of the public state of the start',
  'nothing-varies': 'all seeds have the same private state',
  'pairs-misfit': 'private states cannot be exchanged, so that little is compared',
  'pairs-part': 'pairs part at their first call, so that little is compared',
  'secret-sent': 'a private value, a seed or a handle was sent to an agent',
  'answer-withheld': 'the server withheld an answer because of `secrets`',
  'replay-differs': 'the same actions played again give something else',
  'description-missing': 'the world or a tool has no description',
  'private-value-named': 'a description or schema names a private value',
  'observation-empty': 'the first observation is empty',
  'observation-long': 'the first observation is very long',
  'argument-undescribed': 'an argument has no description',
  'argument-unbounded': 'an argument has no bound',
  'defaults-missing': 'the parameters have no defaults',
  'refusal-paid': 'a refused call earns a reward',
  'reward-huge': 'a step earns too much to learn from',
  'solver-no-better': 'the solver earns no more than random play',
  'shaping-wrong': 'shaping does not add up to what the potential says',
  'episode-failed': 'an episode failed',
  'solver-missing': 'the world exports no solver',
  'return-constant': 'every random episode earns the same',
  'not-learned': 'a small learner gets no better than random play',
  'solver-outdone': 'a small learner earns more than the solver',
  'exploit-pays': 'a lazy player earns more than the solver',
  'exploit-ties': 'a lazy player earns as much as the solver',
} as const
export type FindingKind = keyof typeof FINDING_KINDS

/** Something that a check found in a world. */
export interface Finding {
  /** Its kind, and after a colon what of the world it is about, where there is more than one: an author waives it by this name. */
  readonly name: FindingKind | `${FindingKind}:${string}`
  /** What was found. */
  readonly what: string
  /** How to see it again: parameters, seeds, step and action. */
  readonly again: string
  /** What an author does about it. */
  readonly advice: string
  readonly difference?: Difference
}

/** A finding that the author knows and means. */
export interface WaivedFinding extends Finding {
  /** Why, in the author's words. */
  readonly reason: string
}
