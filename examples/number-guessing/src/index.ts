export { environment, measure, policies, references, solver, tasks } from '@episodic/classics/number-guessing'
