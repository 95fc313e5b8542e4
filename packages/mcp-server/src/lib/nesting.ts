/** How deep the parameters of a request may nest. What reads them further in is recursive, and a stack has an end. */
export const MAX_NESTING = 64

/** Whether objects and arrays stand in each other more than `levels` deep. Looks no further than that. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value) if (isNestedDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}
