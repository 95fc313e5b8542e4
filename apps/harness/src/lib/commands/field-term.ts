import type { QueryTerm } from '@episodic/report/query/parse-query'

/** Returns the condition of a query that a field has a value, or with `negated` that it has another one. */
export function fieldTerm(field: string, value: string, negated = false): QueryTerm {
  return { kind: 'field', field, operator: ':', values: [value], negated }
}
