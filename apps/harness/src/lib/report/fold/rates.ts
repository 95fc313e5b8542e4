import { createRate, type Proportion, type RateFold } from './clustered-rate.ts'

/** Success rates of groups of episodes. */
export interface Rates<Group> {
  /** @param task - the same number for the episodes of one task, which have to come one after the other. */
  add(group: Group, task: number, success: boolean): void
  /** Groups that were added, in ascending order. */
  entries(): [Group, Proportion][]
}

export function createRates<Group extends string | number>(): Rates<Group> {
  const rates = new Map<Group, RateFold>()
  return {
    add(group, task, success) {
      const rate = rates.get(group) ?? createRate()
      rates.set(group, rate)
      rate.add(task, success)
    },
    entries: () =>
      [...rates]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([group, rate]): [Group, Proportion] => [group, rate.finish()]),
  }
}
