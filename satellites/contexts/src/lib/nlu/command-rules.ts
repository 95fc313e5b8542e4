import type { Rules } from './intent-rule.ts'

/**
 * English rules for the commands `cancel`, `back` and `end` of every conversation. Put them beside your own rules:
 * `createRulesInterpreter({ ...commandRules, … })`.
 *
 * An ambiguous phrase is a command only alone: `that's all` ends a conversation, and `two people, that's all` and `at
 * the end of May` do not.
 */
export const commandRules = {
  cancel: {
    phrases: [
      'cancel (it|that|this|everything)?',
      '(forget|drop) (it|that|this|about it)',
      'never mind',
      'nevermind',
      '^(stop|i changed my mind|start over|start again)$',
    ],
    beside: ['no', 'ok', 'okay', 'actually', 'please', 'sorry', 'wait'],
  },
  back: { phrases: ['(go|get|come)? back', 'where were we'], beside: ['ok', 'okay', 'please', 'so', 'now'] },
  end: {
    phrases: [
      '(goodbye|bye|farewell)',
      'good bye',
      '^(no|ok|okay)? (thanks|thank you)? (that|this) (is|was|will be) (all|it|everything) (thanks|thank you|for now|for today)?$',
      '^(quit|exit|end)$',
      '^(please)? (end|stop|close|finish|quit) (the|this|our|my)? (conversation|chat) (now|here|please)?$',
      'see you (later|soon|tomorrow)?',
    ],
    beside: [
      'no',
      'ok',
      'okay',
      'perfect',
      'great',
      '(thanks|thank you) (a lot|very much|so much)?',
      'for now',
      'for today',
    ],
  },
} as const satisfies Rules
