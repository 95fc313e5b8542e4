/**
 * What a step reports as its reward.
 *
 * - `steps`: the sum of the raw terms of that step.
 * - `return`: 0, and the sum over all steps with the step that ends the episode. For clients that read only the last
 *   reward of an episode. An episode that is closed before its end reports no return.
 */
export type RewardMode = 'steps' | 'return'
