import type { Evidence } from './evidence.ts'

/** How an id of RFC 008 is answered: what has to have run, and which of its findings, as a name and a text, fail it. */
export type Rule = readonly [by: readonly Evidence['name'][], fails?: RegExp, note?: string]

const AMBIENT = 'strict play refuses it to the rules: nothing was measured from outside of the process'
const IMAGE = ['reproducible_build', 'image_hygiene', 'layout', 'sbom', 'oci_labels']
const LEAKS =
  /^((answer|state|view|legal|message)-differs|(tools|turn|end)-differ|start-reveals|secret-sent|disk-holds|private-value)/

/** The ids of the lane `local` of policy v2, in its order. Problems that name an id fail it too. */
export const RULES: Readonly<Record<string, Rule>> = {
  'static.manifest': [['manifest']],
  ...Object.fromEntries(IMAGE.map((id): [string, Rule] => [`static.${id}`, [[]]])),
  'static.resource_declaration': [['served', 'manifest']],
  'static.timeout_ceiling': [['served', 'manifest']],
  'static.dependency_pinning': [['package']],
  'static.task_distribution_pinning': [['tasks']],
  'runtime.startup': [['served', 'matrix', 'hygiene'], /^(world-failed|rejection-unhandled)/],
  'runtime.reward_well_formed': [['rewards'], /^(reward-(huge|missing)|episode-failed)/],
  'runtime.rubric_introspectable': [['served']],
  'runtime.observation_schema': [['determinism', 'served'], /^rules-failed.*(declare|schema|JSON)/],
  'runtime.state_contract': [['served']],
  'runtime.trajectory_record': [['matrix']],
  'runtime.reward_attribution': [['served']],
  'runtime.tool_declaration_accuracy': [['hygiene', 'served'], /^legal-/],
  'runtime.task_declaration_accuracy': [['tasks']],
  'runtime.seed_control': [['determinism'], /^(replay-differs|rules-failed.*([rR]andom|crypto))/],
  'runtime.episode_determinism': [['determinism'], /^(replay-differs|reward-noisy|rules-failed.* uses )/],
  'runtime.network_policy': [
    ['determinism', 'served'],
    /^rules-failed.*(fetch|WebS|EventS|node:(net|tls|d|h))/,
    AMBIENT,
  ],
  'runtime.host_containment': [['determinism', 'served'], /^rules-failed.*(node:(fs|child|os)|uses process)/, AMBIENT],
  'runtime.resource_bounds': [['served']],
  'runtime.episode_isolation': [['determinism', 'matrix'], /^((replay|fork)-differs|session-shared)/],
  'runtime.oracle_containment': [['canaries'], /^secret-sent/],
  'semantic.oracle_max': [['rewards', 'exploits'], /^(solver-|oracle-fails|exploit-pays|hack-pays)/],
  'semantic.floor_gap': [['rewards', 'exploits', 'manifest'], /^(return-c|success-un|truncation-p|floor-pays)/],
  'semantic.canary_floor': [['exploits', 'rewards'], /^(exploit-pays|hack-pays|judge-cheated|refusal-paid|floor-pays)/],
  'semantic.no_solution_leakage': [['non-interference', 'canaries', 'hygiene'], LEAKS],
  'semantic.verifier_determinism': [['determinism', 'matrix'], /^(replay-differs|reward-noisy)/],
  'semantic.verifier_portability': [['matrix']],
  'semantic.resource_envelope': [['served', 'manifest']],
  'semantic.replayability': [['matrix', 'determinism'], /^(replay-differs|reward-noisy)/],
}

/** Findings after which the rest of a check was not looked at, or where too little was compared. */
export const BLOCKING = /^(world-failed|rules-failed|policy-failed|episode-failed|pairs-|time-over|nothing-accepted)/

/** The ids that only warn in policy v2. */
export const WARNS = /\.(image_hygiene|layout|rubric_introspectable|trajectory_record|reward_attribution)$/
